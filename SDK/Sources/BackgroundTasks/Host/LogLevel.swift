// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The level of a log line.
///
/// Raw values are those of the ABI.
public enum LogLevel: UInt32, Sendable, CaseIterable {
    case trace, debug, info, warning, error, fault
}

/// Writes lines to the host's log, with the plugin and the run.
///
/// A logger created by `Logger()` writes for the run in which it is created. Outside a run and in a
/// cancellation handler, its lines belong to the plugin. The text is written unchanged, truncated
/// at 8 KiB. Use it from any thread.
public struct Logger: Sendable {
    private let context: TaskContext?

    /// Creates a logger for the current run, if there is one.
    public init() { context = .current }

    init(_ context: TaskContext) { self.context = context }

    /// Writes a line.
    public func log(_ level: LogLevel, _ message: String) {
        if let context {
            context.log(level, message)
        } else {
            Host.last?.log(level, message)
        }
    }

    /// Writes a line for developers.
    public func debug(_ message: String) { log(.debug, message) }
    /// Writes a line about normal operation.
    public func info(_ message: String) { log(.info, message) }
    /// Writes a line about a problem that does not end the run.
    public func warning(_ message: String) { log(.warning, message) }
    /// Writes a line about an error.
    public func error(_ message: String) { log(.error, message) }
}
