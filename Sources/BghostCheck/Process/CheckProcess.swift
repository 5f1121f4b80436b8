// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import Glibc

/// The process that performs one check.
///
/// It runs the same program again, and ends with the check whatever the plugin does to it.
package enum CheckProcess {
    /// The first argument of such a process; the second is the parent's pid, the third the order.
    static let word = "plugin-check-process"
    static let reportDescriptor: Int32 = 3
    /// The descriptor of the meeting's socket, if two processes perform the check.
    private static let meetingDescriptor: Int32 = 4

    /// If the command line orders a check, performs it and ends the process; otherwise returns at
    /// once.
    ///
    /// Call it on the main thread before other threads are started.
    package static func runIfOrdered() {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, arguments[1] == word else { return }
        guard let parent = Int32(arguments[2]), let order = CheckOrder(text: arguments[3]),
            let check = CheckCatalog.check(order.check)
        else { _exit(64) }
        let last = order.place == nil ? reportDescriptor : meetingDescriptor
        WorkerTether.attach(parent: parent, descriptors: last + 1)
        // The plugin's child processes must not keep these open. fcntl cannot fail for open
        // descriptors, and the tether has just kept these open.
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
        setenv("BGHOST_DATA_DIRECTORY", order.dataDirectory, 1)
        setenv("TMPDIR", order.dataDirectory, 1)
        let reporter = CheckReporter(descriptor: reportDescriptor)
        let meeting = order.place.map { place in
            // A waiting process stops before its own time limit, so that the other process is
            // blamed.
            Meeting(
                place: place,
                descriptor: meetingDescriptor,
                until: Monotonic.now + (allowance(of: check, order) - 3000) * 1_000_000
            )
        }
        reporter.report(.verdict(make(check, order, reporter, meeting)))
        // Run no atexit handler and no destructor of the plugin, as in a worker.
        _exit(0)
    }

    private static let fileBytesMax: rlim_t = 256 << 20

    /// Performs a check in this process.
    ///
    /// - Returns: the finding; `nil` if the check passed.
    static func make(
        _ check: Check,
        _ order: CheckOrder,
        _ reporter: CheckReporter,
        _ meeting: Meeting? = nil
    ) -> Finding? {
        do throws(Finding) {
            try check.body(Stage(order, reporter, meeting))
            return nil
        } catch {
            return error
        }
    }

    /// The time limit of a check, milliseconds.
    static func allowance(of check: Check, _ order: CheckOrder) -> UInt64 {
        UInt64(check.seconds) * 1000
            + UInt64(check.runs)
            * (UInt64(order.runtimeMilliseconds) + UInt64(order.graceMilliseconds))
    }
}

/// The connection from a check to its parent process.
struct CheckReporter: Sendable {
    /// `nil` if the check runs without a parent.
    let descriptor: Int32?

    /// Sends a line.
    ///
    /// The line is lost if the plugin has closed the descriptor.
    func report(_ line: CheckLine) {
        guard let descriptor else { return }
        var bytes = Array((line.text + "\n").utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { return }
            bytes = bytes.dropFirst(max(0, count))
        }
    }
}
