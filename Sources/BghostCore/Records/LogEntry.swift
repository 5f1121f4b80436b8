// SPDX-License-Identifier: Apache-2.0

/// One line of the daemon's log.
public struct LogEntry: Equatable, Sendable {
    /// Values are those of the ABI's `log`.
    public enum Level: Int, Equatable, Sendable, CaseIterable, Comparable {
        case trace, debug, info, warning, error, fault

        public static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    /// Who said it.
    public enum Source: String, Equatable, Sendable {
        case host
        /// A handler, through the ABI.
        case handler
        case stdout
        case stderr
    }

    /// Grows by one with each line of this daemon.
    public var sequence: UInt64
    /// Unix nanoseconds.
    public var time: Int64
    public var level: Level
    public var source: Source
    /// A stable word such as `run.ended`; "" for a plugin's own lines.
    public var event: String
    /// Well-formed, one line, control characters escaped.
    public var message: String
    public var task: String?
    public var plugin: String?
    public var run: RunID?

    public init(
        sequence: UInt64,
        time: Int64,
        level: Level,
        source: Source,
        event: String,
        message: String,
        task: String? = nil,
        plugin: String? = nil,
        run: RunID? = nil
    ) {
        self.sequence = sequence
        self.time = time
        self.level = level
        self.source = source
        self.event = event
        self.message = message
        self.task = task
        self.plugin = plugin
        self.run = run
    }
}
