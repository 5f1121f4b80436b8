// SPDX-License-Identifier: Apache-2.0

/// What one worker may do, worked out from the manifest before the worker exists.
///
/// A value: it names no descriptor and no process, and making it touches no file.
package struct SandboxProfile: Equatable, Sendable {
    /// What a path is good for.
    package struct Access: OptionSet, Equatable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let read = Access(rawValue: 1)
        package static let write = Access(rawValue: 2)
        /// Programs there may be started.
        package static let execute = Access(rawValue: 4)
        /// The manifest's author named it, so its absence is worth a warning.
        package static let named = Access(rawValue: 8)
        /// Its owner's rights are the plugin's: a user of its own could not read it otherwise.
        package static let owned = Access(rawValue: 16)
    }

    package struct Grant: Equatable, Sendable {
        /// Absolute.
        package var path: String
        package var access: Access

        package init(_ path: String, _ access: Access) {
            self.path = path
            self.access = access
        }
    }

    /// In the order in which they are put in place: what lies in another comes behind it.
    package var grants: [Grant]
    package var wanted: Set<SandboxLayer>
    /// Without these it must not run.
    package var required: Set<SandboxLayer>
    package var calls: SystemCallPolicy
    /// The most that its private `/tmp` holds, bytes.
    package var scratchBytes: UInt64

    package init(
        _ permissions: Permissions,
        limits: WorkerLimits,
        library: String,
        needed: [String] = [],
        dataDirectory: String?,
        isFunction: Bool = false,
        required: Set<SandboxLayer> = []
    ) {
        let startsProcesses = limits.processes > 1
        let execute: Access = startsProcesses ? .execute : []
        var found: [String: Access] = [:]
        func grant(_ paths: [String], _ access: Access) {
            for path in paths { found[path, default: []].formUnion(access) }
        }
        grant(Self.system, .read)
        grant(Self.devices, [.read, .write])
        // A bare name is looked up by the loader, among the system's libraries.
        grant([library].filter(Self.isOutsideSystem), [.read, .owned])
        grant(needed.filter(Self.isOutsideSystem), .read)
        if permissions.directNetwork { grant(Self.networkFiles, .read) }
        grant(permissions.read, [.read, .named, .owned, execute])
        grant(permissions.write, [.read, .write, .named, .owned, execute])
        if let dataDirectory { grant([dataDirectory], [.read, .write, .named, .owned]) }
        grants = found.map { Grant($0.key, $0.value) }.sorted { $0.path < $1.path }
        self.required = required
        scratchBytes = 16 << 20
        wanted = Set(SandboxLayer.allCases)
        if permissions.directNetwork { wanted.remove(.network) }
        // libffi writes the code of a callback while the process runs.
        if permissions.jit || isFunction { wanted.remove(.writeXorExecute) }
        calls = SystemCallPolicy(
            opensSockets: permissions.directNetwork,
            startsProcesses: startsProcesses
        )
    }

    private static func isOutsideSystem(_ path: String) -> Bool {
        path.hasPrefix("/") && !path.hasPrefix("/usr/")
    }

    /// What every library needs: the system's own libraries and data, which anyone may read.
    private static let system = [
        "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/sys/devices/system/cpu",
    ]
    private static let devices = [
        "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
    ]
    /// What finding a host and checking its certificate needs besides.
    private static let networkFiles = [
        "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf",
        "/etc/services", "/etc/protocols", "/etc/ssl",
    ]
}
