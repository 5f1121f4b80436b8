// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
internal import CBghostSystem
internal import Glibc

/// Landlock: the kernel's rules about paths, TCP ports, signals and abstract sockets.
enum PathRules {
    /// `LANDLOCK_ACCESS_FS_*`.
    ///
    /// Defined here since the kernel may know more rights than the system's headers.
    private enum Right {
        static let execute: UInt64 = 1 << 0
        static let writeFile: UInt64 = 1 << 1
        static let readFile: UInt64 = 1 << 2
        static let readFolder: UInt64 = 1 << 3
        static let makeDevice: UInt64 = 1 << 6 | 1 << 11
        static let makeSocket: UInt64 = 1 << 9
        static let refer: UInt64 = 1 << 13
        static let truncate: UInt64 = 1 << 14
        static let control: UInt64 = 1 << 15
        static let ofFiles = execute | writeFile | readFile | truncate | control
    }

    /// Applies rules that permit these paths and no others.
    ///
    /// - Parameter forbidsNetwork: whether TCP is denied as well.
    /// - Returns: whether the layer is in force, or why it is missing.
    static func apply(
        _ grants: [SandboxProfile.Grant],
        forbidsNetwork: Bool
    ) -> LayerStanding {
        let version = bgs_landlock_version()
        guard version > 0 else {
            let reason =
                -version == EOPNOTSUPP
                ? "the kernel has it switched off; add landlock to its `lsm=` boot parameter"
                : "the kernel has none (\(reasonText(version))); Linux 5.13 or later has"
            return LayerStanding(.landlock, .missing, reason)
        }
        let handled = handledRights(version)
        let rules = bgs_landlock_create(
            handled,
            version >= 4 && forbidsNetwork ? UInt64(BGS_LANDLOCK_TCP) : 0,
            version >= 6 ? UInt64(BGS_LANDLOCK_SCOPES) : 0
        )
        guard rules >= 0 else { return LayerStanding(.landlock, .missing, reasonText(rules)) }
        defer { close(rules) }
        for grant in grants { allow(grant, rules, handled) }
        let result = bgs_landlock_restrict(rules)
        guard result == 0 else { return LayerStanding(.landlock, .missing, reasonText(result)) }
        return LayerStanding(.landlock, .holds, detail(version))
    }

    private static func detail(_ version: Int32) -> String {
        var missing: [String] = []
        if version < 3 { missing.append("truncation") }
        if version < 4 { missing.append("TCP") }
        if version < 6 { missing.append("signals and abstract sockets") }
        let gaps = missing.isEmpty ? "" : ", without " + missing.joined(separator: ", ")
        return "version \(version)\(gaps)"
    }

    private static func handledRights(_ version: Int32) -> UInt64 {
        var rights: UInt64 = (1 << 13) - 1
        if version >= 2 { rights |= Right.refer }
        if version >= 3 { rights |= Right.truncate }
        if version >= 5 { rights |= Right.control }
        return rights
    }

    private static func allow(
        _ grant: SandboxProfile.Grant,
        _ rules: Int32,
        _ handled: UInt64
    ) {
        let path = bgs_landlock_path(grant.path)
        guard path >= 0 else { return }
        defer { close(path) }
        var rights: UInt64 = 0
        if grant.access.contains(.read) { rights |= Right.readFile | Right.readFolder }
        if grant.access.contains(.execute) { rights |= Right.execute }
        if grant.access.contains(.write) {
            rights |=
                ~(Right.execute | Right.readFile | Right.readFolder | Right.makeDevice
                | Right.makeSocket | Right.control)
        }
        var status = stat()
        guard fstat(path, &status) == 0 else { return }
        if status.st_mode & S_IFMT != S_IFDIR { rights &= Right.ofFiles }
        // If a right cannot be granted, the worker finds the path closed.
        _ = bgs_landlock_allow(rules, path, rights & handled)
    }
}

/// The system's text for a negative `errno`.
func reasonText(_ error: Int32) -> String { String(cString: strerror(0 - error)) }
