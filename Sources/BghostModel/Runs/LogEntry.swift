// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// One line of the daemon's log.
package struct LogEntry: Equatable, Sendable {
    /// The severity; raw values are those of the ABI's `log`.
    package enum Level: Int, Equatable, Sendable, CaseIterable, Comparable {
        case trace, debug, info, warning, error, fault

        package static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    /// The origin of an entry.
    package enum Source: String, Equatable, Sendable {
        case host
        /// A handler, through the ABI.
        case handler
        case stdout
        case stderr
    }

    /// Increases by one with each entry of this daemon.
    package var sequence: UInt64
    /// Unix nanoseconds.
    package var time: Int64
    package var level: Level
    package var source: Source
    /// A stable word such as `run.ended`; "" for a plugin's own lines.
    package var event: String
    /// Valid UTF-8 in one line, with control characters escaped.
    package var message: String
    package var task: String?
    package var plugin: String?
    package var run: RunID?
    /// The id of the trace in which the run is; `nil` if there is none.
    package var trace: String?

    package init(
        sequence: UInt64,
        time: Int64,
        level: Level,
        source: Source,
        event: String,
        message: String,
        task: String? = nil,
        plugin: String? = nil,
        run: RunID? = nil,
        trace: String? = nil
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
        self.trace = trace
    }
}
