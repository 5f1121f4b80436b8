// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// A message to the service manager, as sd_notify(3) lists them.
package enum ServiceMessage: Equatable, Sendable {
    /// The daemon has started, or has reloaded its configuration.
    case ready
    /// The daemon reloads its configuration since a monotonic time, microseconds.
    case reloading(since: UInt64)
    case stopping
    /// One line for people.
    case status(String)
    /// A sign of life.
    case watchdog
    /// What the daemon does now may take this much longer, microseconds, whatever the unit says.
    case extendTimeout(UInt64)

    /// The most bytes of a status; `systemctl status` shows it on one line.
    private static let statusBytesMax = 512

    /// The lines of the message, without a line break at the end.
    var text: String {
        switch self {
        case .ready: "READY=1"
        case .reloading(let since): "RELOADING=1\nMONOTONIC_USEC=\(since)"
        case .stopping: "STOPPING=1"
        case .status(let text): "STATUS=" + Self.line(text)
        case .watchdog: "WATCHDOG=1"
        case .extendTimeout(let microseconds): "EXTEND_TIMEOUT_USEC=\(microseconds)"
        }
    }

    /// A status in one line: a line break would begin another message.
    private static func line(_ text: String) -> String {
        let line = PrintableText.escaped(text)
        guard line.utf8.count > statusBytesMax else { return line }
        return String(decoding: line.utf8.prefix(statusBytesMax), as: UTF8.self) + "…"
    }
}

/// The socket on which the service manager receives messages from the daemon.
package final class NotifySocket: Sendable {
    private let socket: DatagramSocket

    /// - Parameter address: the value of `NOTIFY_SOCKET`: a path, or the name of an abstract socket after `@`.
    package init(_ address: String) throws(SystemError) {
        socket = try DatagramSocket(to: address)
    }

    /// Sends messages in one datagram, without waiting; any thread may call it.
    ///
    /// - Returns: whether the manager will receive them.
    package func send(_ messages: [ServiceMessage]) -> Bool {
        let text = messages.map(\.text).joined(separator: "\n")
        return socket.send(Array(text.utf8), mayBlock: false) == 0
    }
}
