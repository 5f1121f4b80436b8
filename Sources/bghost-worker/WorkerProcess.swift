// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import BghostModel
internal import BghostSandbox
internal import BghostWire
internal import CBghostSystem
internal import Glibc

/// Operations on the worker's own process.
enum WorkerProcess {
    /// The daemon's process id.
    private static let parent = bgs_only_argument()

    /// Ties the process to its daemon.
    ///
    /// The daemon's pid is the only argument, so that a worker which starts after its daemon has
    /// died can detect that.
    static func bindToParent() {
        guard parent != 0 else {
            let text = "bghost-worker is started by bghost; it has no use of its own\n"
            // There is no other place to report to; the exit status reports the same.
            _ = text.utf8CString.withUnsafeBytes { write(2, $0.baseAddress, $0.count - 1) }
            exit(64)
        }
        WorkerTether.attach(parent: parent, descriptors: WorkerDescriptors.count)
    }

    private static func apply(_ limits: WorkerRlimits) {
        WorkerLimitSetting.apply(
            addressSpaceBytes: limits.addressSpaceBytes,
            cpuSeconds: limits.cpuSeconds,
            descriptors: limits.descriptors,
            processes: limits.processes
        )
    }

    /// Applies the sandbox that the daemon requests.
    static func confine(_ configuration: Configure) -> WorkerSandbox {
        let order = configuration.confinement
        nameZone()
        let sandbox = WorkerSandbox.enter(
            WorkerSandbox.Order(
                wanted: Set(SandboxLayer.layers(in: order.wanted)),
                user: order.user,
                grants: order.grants.map {
                    SandboxProfile.Grant($0.path, SandboxProfile.Access(rawValue: $0.access))
                },
                scratchBytes: order.scratchBytes,
                filter: (order.filter.instructions, order.filter.ownProcess),
                filterAmongFiles: (
                    order.filterAmongFiles.instructions, order.filterAmongFiles.ownProcess
                ),
                owners: WorkerDescriptors.owners,
                network: WorkerDescriptors.network,
                parent: parent,
                isTraceable: configuration.isTraceable
            ),
            limits: { apply(configuration.limits) }
        )
        close(WorkerDescriptors.owners)
        close(WorkerDescriptors.network)
        // Libraries create temporary files in TMPDIR.
        let scratch = sandbox.hasPrivateFiles ? "/tmp" : configuration.dataDirectory
        setenv("TMPDIR", scratch, 1)
        setenv("HOME", configuration.dataDirectory, 1)
        // The SDK's folder for state outside runs. It cannot use HOME, which is not private to the
        // plugin outside a worker.
        setenv("BGHOST_DATA_DIRECTORY", configuration.dataDirectory, 1)
        return sandbox
    }

    /// Names the machine's zone in `TZ`, as the link `/etc/localtime` does: in the sandbox it is a file without a
    /// name, and Foundation's zones go by names.
    private static func nameZone() {
        guard getenv("TZ") == nil else { return }
        var buffer = [CChar](repeating: 0, count: 256)
        let count = readlink("/etc/localtime", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return }
        let target = String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard let folder = target.firstRange(of: "/zoneinfo/") else { return }
        let name = String(target[folder.upperBound...])
        // The C library takes a name without a file for UTC.
        guard access("/usr/share/zoneinfo/" + name, R_OK) == 0 else { return }
        setenv("TZ", name, 1)
    }

    /// Ends the process without running plugin code: no atexit handlers, no destructors.
    static func end(_ code: Int32 = 0) -> Never {
        _exit(code)
    }
}
