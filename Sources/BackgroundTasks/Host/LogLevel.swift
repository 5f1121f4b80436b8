// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// How much a line of the log matters.
///
/// Raw values are those of the ABI.
public enum LogLevel: UInt32, Sendable, CaseIterable {
    case trace, debug, info, warning, error, fault
}

/// Writes lines into the log of the host, tagged with the plugin and the run.
///
/// `Logger()` belongs to the run that it is used in; outside a run, and in a cancellation handler,
/// its lines belong to the plugin. The text is taken as it is and cut at 8 KiB.
public struct Logger: Sendable {
    private let context: TaskContext?

    /// Makes a logger for the run that is under way, if any.
    public init() { context = .current }

    init(_ context: TaskContext) { self.context = context }

    /// Writes a line.
    public func log(_ level: LogLevel, _ message: String) {
        if let context {
            context.log(level, message)
        } else {
            Host.latest.withLock { $0 }?.log(level, message)
        }
    }

    /// Writes a line that matters to developers only.
    public func debug(_ message: String) { log(.debug, message) }
    /// Writes a line on what goes as it should.
    public func info(_ message: String) { log(.info, message) }
    /// Writes a line on what went wrong without ending the run.
    public func warning(_ message: String) { log(.warning, message) }
    /// Writes a line on what went wrong.
    public func error(_ message: String) { log(.error, message) }
}
