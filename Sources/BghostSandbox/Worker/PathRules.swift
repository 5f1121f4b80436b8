// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import BghostModel
internal import CBghostSystem
internal import Glibc

/// Landlock: the kernel's rules about paths, TCP ports, signals and abstract sockets.
struct PathRules {
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

    /// The descriptor of the rules, or why there are none, as a negative `errno`.
    private let rules: Int32
    private let version: Int32
    private let handled: UInt64

    /// Makes rules that permit nothing yet.
    ///
    /// - Parameter forbidsNetwork: whether TCP is denied as well.
    init(forbidsNetwork: Bool) {
        version = bgs_landlock_version()
        handled = Self.handledRights(version)
        rules =
            version > 0
            ? bgs_landlock_create(
                handled,
                version >= 4 && forbidsNetwork ? UInt64(BGS_LANDLOCK_TCP) : 0,
                version >= 6 ? UInt64(BGS_LANDLOCK_SCOPES) : 0
            ) : -ENOSYS
    }

    /// Applies the rules, which permit what was allowed and nothing else, and gives them up.
    ///
    /// - Returns: whether the layer is in force, or why it is missing.
    func apply() -> LayerStanding {
        guard version > 0 else {
            let reason =
                -version == EOPNOTSUPP
                ? "the kernel has it switched off; add landlock to its `lsm=` boot parameter"
                : "the kernel has none (\(reasonText(version))); Linux 5.13 or later has"
            return LayerStanding(.landlock, .missing, reason)
        }
        guard rules >= 0 else { return LayerStanding(.landlock, .missing, reasonText(rules)) }
        defer { close(rules) }
        let result = bgs_landlock_restrict(rules)
        guard result == 0 else { return LayerStanding(.landlock, .missing, reasonText(result)) }
        return LayerStanding(.landlock, .holds, Self.detail(version))
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

    /// Permits a path of the worker itself, if it is there.
    func allow(_ grant: SandboxProfile.Grant) {
        guard let found = GrantedPath(grant, among: WritableTrees()) else { return }
        defer { close(found.fd) }
        allow(found.fd, grant.access, isFolder: found.isFolder)
    }

    /// Permits a file or folder that is open.
    func allow(_ path: Int32, _ access: SandboxProfile.Access, isFolder: Bool) {
        guard rules >= 0 else { return }
        var rights: UInt64 = 0
        if access.contains(.read) { rights |= Right.readFile | Right.readFolder }
        if access.contains(.execute) { rights |= Right.execute }
        if access.contains(.write) {
            rights |=
                ~(Right.execute | Right.readFile | Right.readFolder | Right.makeDevice
                | Right.makeSocket | Right.control)
        }
        if !isFolder { rights &= Right.ofFiles }
        // If a right cannot be granted, the worker finds the path closed.
        _ = bgs_landlock_allow(rules, path, rights & handled)
    }
}

/// The system's text for a negative `errno`.
func reasonText(_ error: Int32) -> String { String(cString: strerror(0 - error)) }
