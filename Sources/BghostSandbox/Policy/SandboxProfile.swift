// SPDX-License-Identifier: Apache-2.0

package import BghostLinux
package import BghostModel

/// The permissions of a worker, computed from the manifest before the worker exists.
///
/// It is a value: it contains no descriptor and no process, and its creation accesses no file.
package struct SandboxProfile: Equatable, Sendable {
    /// The access to a path.
    package struct Access: OptionSet, Equatable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        static let read = Access(rawValue: 1)
        static let write = Access(rawValue: 2)
        /// Programs in it may be executed.
        static let execute = Access(rawValue: 4)
        /// The manifest contains it, so a warning is logged if it does not exist.
        static let named = Access(rawValue: 8)
        /// Access with the owner's rights: another user could not read it.
        static let owned = Access(rawValue: 16)
        /// Its files may not be executed or mapped as code.
        static let noCode = Access(rawValue: 32)
        /// Grants nothing: a folder that some plugin may write.
        static let tree = Access(rawValue: 64)
        /// Grants nothing: a folder whose entries are such folders.
        static let treesInside = Access(rawValue: 128)

        /// Whether it only says what plugins may write.
        var isOfTrees: Bool { !isDisjoint(with: [.tree, .treesInside]) }
    }

    package struct Grant: Equatable, Sendable {
        /// An absolute path.
        var path: String
        var access: Access

        package init(_ path: String, _ access: Access) {
            self.path = path
            self.access = access
        }
    }

    /// In the order in which they are applied: a path inside another one follows it.
    var grants: [Grant]
    /// The folders that plugins may write, in which no link decides what is granted.
    let writable: WritableTrees
    package var wanted: Set<SandboxLayer>
    /// The layers without which the worker must not run.
    var required: Set<SandboxLayer>
    var calls: SystemCallPolicy
    /// The maximum size of its private `/tmp`, bytes.
    var scratchBytes: UInt64

    /// - Parameters:
    ///   - writable: the folders that all plugins of the manifest may write; `nil` for those of this one.
    ///   - kernelCountsMemory: whether a memory controller of the kernel enforces the worker's limit.
    package init(
        _ permissions: Permissions,
        limits: WorkerLimits,
        library: String,
        needed: [String] = [],
        dataDirectory: String?,
        writable: WritableTrees? = nil,
        isFunction: Bool = false,
        required: Set<SandboxLayer> = [],
        kernelCountsMemory: Bool = false
    ) {
        let sharesMemory = kernelCountsMemory || limits.memoryBytes == nil
        let startsProcesses = limits.processes > 1
        let execute: Access = startsProcesses ? .execute : []
        var found: [String: Access] = [:]
        // Paths in the system's folders are granted with these folders; only some of these permit code.
        func isPrivate(_ path: String) -> Bool {
            guard path.hasPrefix("/usr/") else { return path.hasPrefix("/") }
            return found["/usr"]?.contains(.noCode) == true
                && !Self.libraryFolders.contains { path.hasPrefix($0 + "/") }
        }
        func grant(_ paths: [String], _ access: Access) {
            for path in paths { found[path, default: []].formUnion(access) }
        }
        grant(Self.system, .read)
        if startsProcesses, !(permissions.read + permissions.write).isEmpty {
            // Without this, the kernel could start the dynamic loader for a granted program, and the loader
            // can run any file that it can map as code.
            found["/usr"]?.formUnion(.noCode)
            grant(Self.libraryFolders, .read)
        }
        grant(Self.devices, [.read, .write])
        // A shared mapping of `/dev/zero` is equivalent to anonymous shared memory.
        if sharesMemory { grant(["/dev/zero"], [.read, .write]) }
        // The loader looks up a bare name in the system's libraries.
        grant([library].filter(isPrivate), [.read, .owned])
        grant(needed.filter(isPrivate), .read)
        if permissions.directNetwork { grant(Self.networkFiles, .read) }
        grant(permissions.read, [.read, .named, .owned, execute])
        grant(permissions.write, [.read, .write, .named, .owned, execute])
        // The manifest grants the folder with its programs.
        if permissions.read.contains("/usr") || permissions.write.contains("/usr") {
            found["/usr"]?.remove(.noCode)
        }
        if let dataDirectory { grant([dataDirectory], [.read, .write, .named, .owned]) }
        grants = found.map { Grant($0.key, $0.value) }.sorted { $0.path < $1.path }
        self.writable =
            writable ?? WritableTrees(permissions.write + (dataDirectory.map { [$0] } ?? []))
        self.required = required
        scratchBytes = 16 << 20
        wanted = Set(SandboxLayer.allCases)
        if permissions.directNetwork { wanted.remove(.network) }
        // libffi writes the code of a callback at run time.
        if permissions.jit || isFunction { wanted.remove(.writeXorExecute) }
        calls = SystemCallPolicy(
            opensSockets: permissions.directNetwork,
            startsProcesses: startsProcesses
        )
        calls.sharesMemory = sharesMemory
    }

    /// The folders of `/usr` with libraries and few programs.
    private static let libraryFolders = [
        "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/local/lib", "/usr/local/lib64",
    ]

    /// The system's libraries and data that every library needs; all users may read them.
    private static let system = [
        "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/sys/devices/system/cpu",
    ]
    private static let devices = [
        "/dev/null", "/dev/full", "/dev/random", "/dev/urandom",
    ]
    /// The additional files for name resolution and certificate checks.
    private static let networkFiles = [
        "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf",
        "/etc/services", "/etc/protocols", "/etc/ssl",
    ]
}

extension SandboxProfile {
    /// The grants, and the folders that plugins may write, as a worker gets them.
    var message: [Grant] {
        grants + writable.granted.map { Grant($0, .tree) }
            + (writable.dataFolder.map { [Grant($0, .treesInside)] } ?? [])
    }
}

extension WritableTrees {
    /// The folders among the grants that a worker got.
    init(_ grants: [SandboxProfile.Grant]) {
        self.init(
            grants.filter { $0.access.contains(.tree) }.map(\.path),
            dataFolder: grants.first { $0.access.contains(.treesInside) }?.path
        )
    }
}
