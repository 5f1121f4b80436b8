// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

extension API {
    /// A line of the daemon's log.
    package struct LogLine: Codable, Equatable, Sendable {
        /// The schema, in each line, since lines travel alone.
        @OrDefault package var schema: String
        /// Increases by one with each line of this daemon.
        package var sequence: UInt64
        /// When it was logged.
        @Formatted<RFC3339> package var time: Int64
        /// Its severity.
        @Formatted<LogLevel> package var level: LogEntry.Level
        /// Who wrote it.
        package var source: LogEntry.Source
        /// A stable word such as `run.ended`; "" for a plugin's own lines.
        @OrDefault package var event: String
        /// One line of text, with control characters escaped.
        package var message: String
        /// The task that it is about; null if it is about none.
        @OrNull package var task: String?
        /// The plugin that it is about; null if it is about none.
        @OrNull package var plugin: String?
        /// The run that it is about; null if it is about none.
        @FormOrNull<ULID> package var run: RunID?
        /// The id of the trace in which the run is, 32 hexadecimal digits; absent if there is none.
        @OrAbsent package var trace: String?
    }

    /// The name of a severity: `trace`, `debug`, `info`, `warning`, `error` or `fault`.
    package enum LogLevel: FieldForm {
        package static func json(_ value: LogEntry.Level) -> String { value.text }

        package static func value(_ json: String) -> LogEntry.Level? { LogEntry.Level(text: json) }
    }
}

extension API.LogLine {
    package init(_ entry: LogEntry) {
        self.init(
            schema: Schema.logEntry,
            sequence: entry.sequence,
            time: entry.time,
            level: entry.level,
            source: entry.source,
            event: entry.event,
            message: entry.message,
            task: entry.task,
            plugin: entry.plugin,
            run: entry.run,
            trace: entry.trace
        )
    }

    package var entry: LogEntry {
        LogEntry(
            sequence: sequence,
            time: time,
            level: level,
            source: source,
            event: event,
            message: message,
            task: task,
            plugin: plugin,
            run: run,
            trace: trace
        )
    }
}

extension LogEntry.Level {
    /// The level in one word.
    package var text: String {
        switch self {
        case .trace: "trace"
        case .debug: "debug"
        case .info: "info"
        case .warning: "warning"
        case .error: "error"
        case .fault: "fault"
        }
    }

    /// Parses the format of `text`; `nil` for any other text.
    package init?(text: some StringProtocol) {
        guard let level = Self.allCases.first(where: { $0.text == text }) else { return nil }
        self = level
    }
}
