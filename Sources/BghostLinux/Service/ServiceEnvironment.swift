// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A socket that the service manager opened for this process.
package struct InheritedSocket: Equatable, Sendable {
    package var descriptor: Int32
    /// Its name in the socket unit (`FileDescriptorName=`).
    package var name: String
}

/// What the service manager passes to a daemon in its environment, as sd_notify(3), sd_watchdog_enabled(3)
/// and sd_listen_fds(3) describe it.
package struct ServiceEnvironment: Equatable, Sendable {
    /// Where the manager receives messages about the daemon's state; `nil` if it expects none.
    package private(set) var notifyAddress: String?
    /// How long the manager waits for a sign of life, nanoseconds; `nil` without a watchdog.
    package private(set) var watchdogTimeout: UInt64?
    package private(set) var sockets: [InheritedSocket] = []

    private static let names = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID",
        "LISTEN_FDNAMES",
    ]
    /// The number of the first inherited descriptor, after stdin, stdout and stderr.
    private static let firstDescriptor: Int32 = 3
    /// The most inherited descriptors; the daemon has a use for one.
    private static let descriptorsMax: Int32 = 64

    /// Reads the variables; values that are malformed or meant for another process count as absent.
    ///
    /// - Parameters:
    ///   - process: the ID of this process.
    ///   - variable: the value of a variable; `nil` if it is unset.
    init(process: Int32, variable: (String) -> String?) {
        notifyAddress = variable("NOTIFY_SOCKET").flatMap { $0.isEmpty ? nil : $0 }
        if variable("WATCHDOG_PID").map({ Int32($0) == process }) ?? true,
            let microseconds = variable("WATCHDOG_USEC").flatMap(UInt64.init), microseconds > 0
        {
            let (timeout, overflow) = microseconds.multipliedReportingOverflow(by: 1000)
            watchdogTimeout = overflow ? nil : timeout
        }
        guard variable("LISTEN_PID").flatMap(Int32.init) == process,
            let count = variable("LISTEN_FDS").flatMap(Int32.init),
            (1...Self.descriptorsMax).contains(count)
        else { return }
        let names = (variable("LISTEN_FDNAMES") ?? "")
            .split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        for index in 0..<count {
            sockets.append(
                InheritedSocket(
                    descriptor: Self.firstDescriptor + index,
                    name: Int(index) < names.count ? names[Int(index)] : ""
                )
            )
        }
    }

    /// Reads the variables of this process and removes them, so that neither code in the daemon nor a child
    /// process can send messages in its name.
    ///
    /// Call it once, before other threads start: they could read the environment at the same time. The
    /// descriptors are closed in children from then on.
    package static func take() -> ServiceEnvironment {
        let environment = ServiceEnvironment(process: getpid()) { name in
            getenv(name).map { String(cString: $0) }
        }
        for name in names { unsetenv(name) }
        for socket in environment.sockets {
            // It fails only for a descriptor that is not open, which its use reports.
            _ = fcntl(socket.descriptor, F_SETFD, FD_CLOEXEC)
        }
        return environment
    }
}
