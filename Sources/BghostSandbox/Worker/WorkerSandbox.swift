// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
package import BghostModel
internal import CBghostSystem
internal import Glibc

/// The sandbox that a worker applies to itself, while it has one thread and before it loads any
/// code of its plugin.
///
/// The order is forced: mounting must precede the loss of the right to mount; changing the user
/// needs root's capabilities and clears the parent-death signal that ties the worker to its daemon;
/// and the seccomp filter forbids all of these.
package struct WorkerSandbox {
    /// The requested layers and their parameters.
    package struct Order {
        var wanted: Set<SandboxLayer>
        /// The user to become; 0 keeps the current one.
        var user: UInt32
        var grants: [SandboxProfile.Grant]
        /// The folders that plugins may write.
        var writable: WritableTrees
        var scratchBytes: UInt64
        var filter: (bytes: [UInt8], ownProcess: [UInt16])
        var filterAmongFiles: (bytes: [UInt8], ownProcess: [UInt16])
        /// The descriptor of the owner map, or -1.
        var owners: Int32
        /// The descriptor of an empty network namespace; the worker creates one if it is another one.
        var network: Int32
        /// The daemon's process id.
        var parent: Int32
        /// Whether the daemon's children may trace the worker, as debuggers do.
        var isTraceable: Bool

        package init(
            wanted: Set<SandboxLayer>,
            user: UInt32,
            grants: [SandboxProfile.Grant],
            scratchBytes: UInt64,
            filter: (bytes: [UInt8], ownProcess: [UInt16]),
            filterAmongFiles: (bytes: [UInt8], ownProcess: [UInt16]),
            owners: Int32,
            network: Int32,
            parent: Int32,
            isTraceable: Bool = false
        ) {
            self.wanted = wanted
            self.user = user
            self.grants = grants.filter { !$0.access.isOfTrees }
            writable = WritableTrees(grants)
            self.scratchBytes = scratchBytes
            self.filter = filter
            self.filterAmongFiles = filterAmongFiles
            self.owners = owners
            self.network = network
            self.parent = parent
            self.isTraceable = isTraceable
        }
    }

    private let order: Order
    private let isRoot = geteuid() == 0
    private var files = PrivateFiles()
    private var hasFiles = false
    /// Whether the worker has its own file system, with its own `/tmp`.
    package var hasPrivateFiles: Bool { hasFiles }
    /// The state of each layer.
    package private(set) var layerStates: [LayerStanding] = []
    /// Paths that the manifest grants and that cannot be had.
    package private(set) var absent: [String] = []
    /// Why no plugin may be loaded, whatever its manifest requires; `nil` if it may.
    package private(set) var refusal: String?
    /// What the private file system lacks though the machine can have one.
    private var fault: String?
    private var rules: PathRules?

    /// Attempts the acts that the sandbox must prevent; returns for each the `errno` that stopped
    /// it, or 0.
    package var trials: [(name: String, error: Int32)] {
        var trials: [(name: String, error: Int32)] = []
        var name: UnsafePointer<CChar>?
        for which in 0... {
            let error = bgs_trial(Int32(which), &name)
            guard error >= 0, let name else { break }
            trials.append((String(cString: name), error))
        }
        return trials
    }

    private init(_ order: Order) { self.order = order }

    /// Applies every requested layer that is available.
    ///
    /// - Parameter limits: sets the limits of the process, at the right point in the order.
    package static func enter(_ order: Order, limits: () -> Void) -> WorkerSandbox {
        var sandbox = WorkerSandbox(order)
        sandbox.separate()
        // Before the limit of descriptors is set, which need not suffice for as many as there are grants.
        sandbox.permitPaths()
        limits()
        guard !order.wanted.isEmpty else { return sandbox }
        sandbox.lowerRights()
        sandbox.restrict()
        return sandbox
    }

    private mutating func note(
        _ layer: SandboxLayer,
        _ result: Int32,
        _ detail: String = "",
        advice: String = ""
    ) {
        layerStates.append(
            result == 0
                ? LayerStanding(layer, .holds, detail)
                : LayerStanding(layer, .missing, reasonText(result) + advice)
        )
    }

    private func wants(_ layer: SandboxLayer) -> Bool { order.wanted.contains(layer) }

    // MARK: Namespaces and mounts

    private mutating func separate() {
        for layer in SandboxLayer.allCases where !wants(layer) {
            layerStates.append(LayerStanding(layer, .waived))
        }
        let needsNamespaces = wants(.mounts) || wants(.network) || wants(.ipc)
        guard needsNamespaces else { return }
        var advice = "; is bghost in a container that may not use namespaces?"
        var refusal: Int32 = 0
        if !isRoot {
            let (user, group) = (geteuid(), getegid())
            refusal = bgs_unshare(BGS_NEW_USERS)
            if refusal == 0 { refusal = bgs_keep_user(user, group) }
            advice =
                "; user namespaces are needed: sysctl kernel.unprivileged_userns_clone=1, and on"
                + " Ubuntu kernel.apparmor_restrict_unprivileged_userns=0"
        }
        func unshare(_ what: Int32) -> Int32 { refusal == 0 ? bgs_unshare(what) : refusal }
        if wants(.network) {
            note(.network, refusal == 0 ? enterNetwork() : refusal, advice: advice)
        }
        if wants(.ipc) { note(.ipc, unshare(BGS_NEW_IPC | BGS_NEW_NAMES), advice: advice) }
        if wants(.mounts) { enterFiles(unshare(BGS_NEW_MOUNTS), advice) }
    }

    /// Enters a network without interfaces: that of the plugin's earlier workers, or a new one.
    ///
    /// The kernel needs 0.6 ms for a new one, and 0.01 ms to join one.
    private func enterNetwork() -> Int32 {
        isRoot && bgs_join_network(order.network) == 0 ? 0 : bgs_unshare(BGS_NEW_NETWORK)
    }

    private mutating func enterFiles(_ unshared: Int32, _ advice: String) {
        guard unshared == 0 else { return note(.mounts, unshared, advice: advice) }
        fault = files.enter(
            order.grants,
            among: order.writable,
            owners: isRoot && wants(.user) && order.user != 0 ? order.owners : -1,
            bytes: order.scratchBytes,
            holdsCode: !wants(.writeXorExecute)
        )
        hasFiles = fault == nil
        layerStates.append(
            LayerStanding(
                .mounts,
                hasFiles ? .holds : .missing,
                fault ?? "\(order.grants.count) paths"
            )
        )
    }

    // MARK: Rights

    /// Makes the rules of paths from what is mounted, or without mounts from the granted paths.
    private mutating func permitPaths() {
        defer { files.closeTrees() }
        absent = hasFiles ? files.absent : []
        guard wants(.landlock) else { return }
        let rules = PathRules(forbidsNetwork: wants(.network))
        self.rules = rules
        for tree in files.trees {
            rules.allow(tree.fd, tree.grant.access, isFolder: tree.isFolder)
        }
        for grant in hasFiles ? [] : order.grants {
            guard let found = GrantedPath(grant, among: order.writable) else {
                if grant.access.contains(.named) { absent.append(grant.path) }
                continue
            }
            rules.allow(found.fd, grant.access, isFolder: found.isFolder)
            close(found.fd)
        }
        for grant in ownPlaces { rules.allow(grant) }
    }

    private mutating func lowerRights() {
        // Without an owner map the plugin could not use its own data under another user.
        let mayChangeUser = isRoot && hasFiles && files.mapsOwners && order.user != 0
        var hasUser = false
        if wants(.user) {
            if mayChangeUser {
                let result = bgs_become_user(order.user)
                hasUser = result == 0
                note(.user, result, "user \(order.user)")
                if !hasUser { fault = "changing the user: \(reasonText(result))" }
            } else {
                layerStates.append(LayerStanding(.user, .missing, whyNoUser))
            }
        }
        if isRoot, wants(.user), order.user != 0, !hasUser, let fault {
            refusal =
                "its worker would run as root, though this machine can give it a user: \(fault)"
        }
        if wants(.processes) {
            let isHidden = files.hidesProcesses && hasUser
            layerStates.append(
                LayerStanding(
                    .processes,
                    isHidden ? .holds : .missing,
                    isHidden
                        ? "/proc shows its own user's" : "processes of others can be seen in /proc"
                )
            )
        }
        if wants(.capabilities) { note(.capabilities, bgs_drop_capabilities()) }
        // A change of the user clears the parent-death signal, and the daemon may have ended since.
        _ = bgs_die_with_parent()
        if getppid() != order.parent { _exit(0) }
        // The kernel never refuses this; after a change of the user it is already set.
        _ = order.isTraceable ? bgs_traceable_by(order.parent) : bgs_not_dumpable()
    }

    private var whyNoUser: String {
        if !isRoot {
            return "bghost is not root, so its workers are user \(geteuid()) as well"
        }
        if !hasFiles { return "it would need the layer mounts" }
        if order.user == 0 { return "no user namespace can be made to map the owners of files" }
        return "the file system of its data cannot map owners; keep the state on ext4, xfs or btrfs"
    }

    private mutating func restrict() {
        if wants(.noNewPrivileges) { note(.noNewPrivileges, bgs_no_new_privileges()) }
        let hasKernelRule = wants(.writeXorExecute) ? bgs_no_writable_code() : 0
        if wants(.landlock) {
            layerStates.append((rules ?? PathRules(forbidsNetwork: wants(.network))).apply())
        }
        if wants(.seccomp) {
            // While root's capabilities remain, extended attributes of files can give programs
            // capabilities.
            let isPowerless = layerStates.contains {
                $0.layer == .capabilities && $0.state == .holds
            }
            let filter = hasFiles && isPowerless ? order.filter : order.filterAmongFiles
            note(
                .seccomp,
                KernelFilter.install(filter.bytes, ownProcess: filter.ownProcess),
                "\(filter.bytes.count / 8) instructions",
                advice: "; the kernel needs CONFIG_SECCOMP_FILTER"
            )
        }
        if wants(.writeXorExecute) { noteWritableCode(hasKernelRule) }
        layerStates.sort { $0.layer.bit < $1.layer.bit }
    }

    /// Kernels before 6.3 have no such rule; then the seccomp filter prevents it.
    ///
    /// So test what is possible instead of asking the kernel.
    private mutating func noteWritableCode(_ kernelRule: Int32) {
        if kernelRule != 0, bgs_writable_code() != 0 {
            return note(.writeXorExecute, 0, "by the list of system calls")
        }
        note(.writeXorExecute, kernelRule, advice: "; Linux 6.3 or later has it")
    }

    // `/tmp` only if it is the worker's own. libdispatch reads the state of its threads in `/proc`,
    // under ids that no rule can know in advance.
    private var ownPlaces: [SandboxProfile.Grant] {
        var places = [SandboxProfile.Grant("/proc", .read)]
        if hasFiles { places.append(SandboxProfile.Grant("/tmp", [.read, .write])) }
        // Every program needs the dynamic loader, which the kernel executes too.
        if order.grants.contains(where: { $0.access.contains(.execute) }) {
            for loader in ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"] {
                places.append(SandboxProfile.Grant(loader, [.read, .execute]))
            }
        }
        return places
    }
}
