// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostLinux
package import BghostModel
package import BghostWire
internal import Glibc

/// The sandbox of the workers of one plugin, computed once for all of them.
package final class SandboxSpec {
    package let message: Confinement
    /// The folders that plugins may write.
    package let writable: WritableTrees
    /// A user namespace for id-mapped mounts in which the plugin's user owns the files of root.
    private let owners: Descriptor
    /// Whether workers may share a network namespace: without capabilities they cannot change it.
    private let sharesNetwork: Bool
    /// The network namespace of the first worker, which later ones join; -1 if there is none.
    private var network: Int32 = -1

    /// Computes the filters and creates the user namespace.
    ///
    /// - Parameters:
    ///   - profile: what the plugin's workers may do.
    ///   - user: the user of the workers if the daemon is root; 0 keeps the daemon's user.
    package init(_ profile: SandboxProfile, user: UInt32) {
        writable = profile.writable
        let isRoot = geteuid() == 0
        let map = isRoot && user != 0 ? OwnerMap.make(user) : -1
        // A worker expects a descriptor in this position in any case.
        owners = Descriptor(owning: map >= 0 ? map : open("/dev/null", O_RDONLY | O_CLOEXEC))
        sharesNetwork = isRoot && profile.wanted.isSuperset(of: [.network, .capabilities])
        var calls = profile.calls
        calls.writesCode =
            !profile.wanted.contains(.writeXorExecute) || KernelFilter.kernelForbidsWritableCode
        var amongFiles = calls
        amongFiles.changesAttributes = false
        message = Confinement(
            wanted: SandboxLayer.bits(profile.wanted),
            required: SandboxLayer.bits(profile.required),
            user: isRoot && map >= 0 ? user : 0,
            grants: profile.message.map {
                Confinement.Grant(path: $0.path, access: $0.access.rawValue)
            },
            scratchBytes: profile.scratchBytes,
            filter: Confinement.Filter(FilterProgram(calls)),
            filterAmongFiles: Confinement.Filter(FilterProgram(amongFiles))
        )
    }

    deinit {
        if network >= 0 { close(network) }
    }

    /// A duplicate of the namespace's descriptor, owned by the caller; -1 if it cannot be duplicated.
    package func copyOwners() -> Int32 { fcntl(owners.raw, F_DUPFD_CLOEXEC, 0) }

    /// A duplicate of the network namespace's descriptor, or of another one if there is none; owned by the
    /// caller, and -1 if it cannot be duplicated.
    package func copyNetwork(or other: Int32) -> Int32 {
        fcntl(network >= 0 ? network : other, F_DUPFD_CLOEXEC, 0)
    }

    /// Keeps the network namespace of a worker for the plugin's later workers.
    ///
    /// Call it once the worker has reported that the layers `network` and `capabilities` hold, and
    /// while it is a child of this process, so that its id is not used again.
    package func shareNetwork(of worker: Int32) {
        guard sharesNetwork, network < 0 else { return }
        let fd = open("/proc/\(worker)/ns/net", O_RDONLY | O_CLOEXEC)
        guard fd >= 0 else { return }
        // Never the daemon's own, whatever the worker reported.
        var (its, own) = (stat(), stat())
        guard fstat(fd, &its) == 0, stat("/proc/self/ns/net", &own) == 0, its.st_ino != own.st_ino
        else {
            close(fd)
            return
        }
        network = fd
    }

    /// An empty sandbox; the plugin probe replaces it before it sends the configuration.
    package static let none = Confinement(
        wanted: 0,
        required: 0,
        user: 0,
        grants: [],
        scratchBytes: 0,
        filter: Confinement.Filter(instructions: [], ownProcess: []),
        filterAmongFiles: Confinement.Filter(instructions: [], ownProcess: [])
    )
}

extension Confinement.Filter {
    init(_ program: FilterProgram) {
        self.init(instructions: program.bytes, ownProcess: program.ownProcess)
    }
}

extension LayerStanding {
    /// Converts the state that a worker reported.
    ///
    /// The result is `nil` if this daemon does not know the layer or the state.
    package init?(_ layer: Confined.Layer) {
        guard let known = SandboxLayer.allCases.first(where: { $0.bit == layer.bit }),
            let state = State(rawValue: layer.state)
        else { return nil }
        self.init(known, state, PrintableText.escaped(layer.detail))
    }
}

/// The user IDs of plugin workers.
///
/// These users own no files on the disk, so a plugin's ID may differ after a restart.
package enum PluginUsers {
    /// Outside the ranges that systems use for people, services and containers.
    private static let first: UInt32 = 2_000_000_000
    private static let ofOneDaemon: UInt32 = 1024
    /// The user of a worker that only inspects a plugin.
    package static let ofProbes = first - 1

    /// Whether a user ID belongs to a plugin of any daemon.
    package static func contain(_ user: UInt32) -> Bool {
        (ofProbes...first + 0xFFFF * ofOneDaemon + (ofOneDaemon - 1)).contains(user)
    }

    /// The user ID of a plugin's workers.
    ///
    /// - Parameter stateDirectory: selects one of 65536 ranges, so that two daemons rarely share
    ///   user IDs.
    package static func number(plugin index: Int, stateDirectory: String) -> UInt32 {
        var hash: UInt32 = 2_166_136_261
        for byte in stateDirectory.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        let daemon = (hash ^ hash >> 16) & 0xFFFF
        return first + daemon * ofOneDaemon + UInt32(index) % ofOneDaemon
    }
}
