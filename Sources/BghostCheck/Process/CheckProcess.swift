// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import Glibc

/// The process that makes one check.
///
/// It is the program itself, started again, and ends with the check whatever the plugin does to it.
package enum CheckProcess {
    /// The first argument of such a process; the second is the starter's pid, the third the order.
    static let word = "plugin-check-process"
    static let reportDescriptor: Int32 = 3
    /// Of one of two processes.
    private static let meetingDescriptor: Int32 = 4

    /// Makes the check that the command line orders, and ends the process; returns at once if it
    /// orders none.
    ///
    /// Call it on the main thread, before anything else has started threads.
    package static func runIfOrdered() {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, arguments[1] == word else { return }
        guard let parent = Int32(arguments[2]), let order = CheckOrder(text: arguments[3]),
            let check = CheckCatalog.check(order.check)
        else { _exit(64) }
        let last = order.place == nil ? reportDescriptor : meetingDescriptor
        WorkerTether.attach(parent: parent, descriptors: last + 1)
        // What the plugin starts must not hold these open.
        for fd in reportDescriptor...last { _ = fcntl(fd, F_SETFD, FD_CLOEXEC) }
        WorkerLimitSetting.apply(
            addressSpaceBytes: 0,
            cpuSeconds: UInt32(clamping: allowance(of: check, order) / 1000 + 2),
            descriptors: 1024,
            processes: 64
        )
        var unlimited = rlimit(rlim_cur: fileBytesMax, rlim_max: fileBytesMax)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &unlimited)
        setenv("HOME", order.dataDirectory, 1)
        setenv("TMPDIR", order.dataDirectory, 1)
        let report = CheckVoice(descriptor: reportDescriptor)
        let meeting = order.place.map { place in
            // Who waits gives up before its own time is over: the other one is to be found.
            Meeting(
                place: place,
                descriptor: meetingDescriptor,
                until: Monotonic.now + (allowance(of: check, order) - 3000) * 1_000_000
            )
        }
        report.say(.verdict(make(check, order, report, meeting)))
        // No atexit handler and no destructor of the plugin's, as in a worker.
        _exit(0)
    }

    private static let fileBytesMax: rlim_t = 256 << 20

    /// Makes a check in this process.
    ///
    /// - Returns: what was found; `nil` if it passed.
    static func make(
        _ check: Check,
        _ order: CheckOrder,
        _ voice: CheckVoice,
        _ meeting: Meeting? = nil
    ) -> Finding? {
        do throws(Finding) {
            try check.body(Stage(order, voice, meeting))
            return nil
        } catch {
            return error
        }
    }

    /// The most milliseconds that a check may take.
    static func allowance(of check: Check, _ order: CheckOrder) -> UInt64 {
        UInt64(check.seconds) * 1000
            + UInt64(check.runs)
            * (UInt64(order.runtimeMilliseconds) + UInt64(order.graceMilliseconds))
    }
}

/// The way from a check to whoever ordered it.
struct CheckVoice: Sendable {
    /// `nil` where nobody listens.
    let descriptor: Int32?

    /// Sends a line; what is told is lost if the plugin has closed the descriptor.
    func say(_ line: CheckLine) {
        guard let descriptor else { return }
        var bytes = Array((line.text + "\n").utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { return }
            bytes = bytes.dropFirst(max(0, count))
        }
    }
}
