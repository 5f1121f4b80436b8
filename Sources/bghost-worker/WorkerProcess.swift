// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import BghostWire
internal import Glibc

/// The worker as a process.
enum WorkerProcess {
    /// The daemon's pid is the one argument, so that a worker that starts after its daemon has died
    /// can tell.
    static func bindToParent() {
        guard CommandLine.arguments.count == 2, let parent = Int32(CommandLine.arguments[1]) else {
            let text = "bghost-worker is started by bghost; it has no use of its own\n"
            _ = text.utf8CString.withUnsafeBytes { write(2, $0.baseAddress, $0.count - 1) }
            exit(64)
        }
        WorkerTether.attach(parent: parent, descriptors: WorkerDescriptors.control + 1)
    }

    static func apply(_ limits: WorkerRlimits) {
        WorkerLimitSetting.apply(
            addressSpaceBytes: limits.addressSpaceBytes,
            cpuSeconds: limits.cpuSeconds,
            descriptors: limits.descriptors,
            processes: limits.processes
        )
    }

    /// Ends the process without running anything of the plugin's: no atexit handlers, no destructors.
    static func end(_ code: Int32 = 0) -> Never {
        _exit(code)
    }
}
