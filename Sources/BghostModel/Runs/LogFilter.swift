// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// A filter for log entries; `nil` means no condition.
package struct LogFilter: Equatable, Sendable {
    package var task: String?
    package var run: RunID?
    package var plugin: String?
    package var level: LogEntry.Level
    /// The earliest time, Unix nanoseconds.
    package var since: Int64?
    /// The time is before this, Unix nanoseconds.
    package var until: Int64?
    /// A part of the message; ASCII letters match both cases.
    package var text: String?

    package init(
        task: String? = nil,
        run: RunID? = nil,
        plugin: String? = nil,
        level: LogEntry.Level = .trace,
        since: Int64? = nil,
        until: Int64? = nil,
        text: String? = nil
    ) {
        self.task = task
        self.run = run
        self.plugin = plugin
        self.level = level
        self.since = since
        self.until = until
        self.text = text
    }

    /// Whether an entry matches.
    package func matches(_ entry: LogEntry) -> Bool {
        entry.level >= level && (task == nil || entry.task == task)
            && (run == nil || entry.run == run) && (plugin == nil || entry.plugin == plugin)
            && (since ?? .min) <= entry.time && (until.map { entry.time < $0 } ?? true)
            && (text.map { RunFilter.contains(entry.message, $0) } ?? true)
    }
}

/// A page of the log.
package struct LogPage: Equatable, Sendable {
    /// The oldest first.
    package var entries: [LogEntry]
    /// Where the page before this one ends; `nil` if there is none.
    package var next: LogPosition?
    /// Why older lines may be missing, one sentence without a full stop; `nil` if none are.
    package var note: String?

    package init(entries: [LogEntry] = [], next: LogPosition? = nil, note: String? = nil) {
        self.entries = entries
        self.next = next
        self.note = note
    }
}

/// A place between two lines of the log.
package struct LogPosition: Equatable, Sendable, CustomStringConvertible {
    /// Of the lines of the running daemon, those with smaller sequence numbers are older; 0 if none is.
    package var sequence: UInt64
    /// Lines before this place in the files are older; `nil` if no line of the files was passed.
    package var cursor: LogCursor?

    package init(sequence: UInt64, cursor: LogCursor? = nil) {
        self.sequence = sequence
        self.cursor = cursor
    }

    /// Parses ``description``; `nil` for other texts.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let sequence = UInt64(first) else { return nil }
        self.sequence = sequence
        guard parts.count == 2 else { return }
        guard let cursor = LogCursor(String(parts[1])) else { return nil }
        self.cursor = cursor
    }

    /// Such as `812` or `812-2367-40960`.
    package var description: String {
        cursor.map { "\(sequence)-\($0)" } ?? String(sequence)
    }
}

/// A place between two lines of the log's files.
///
/// A renamed file keeps its number, so the place stays the same when files are rotated.
package struct LogCursor: Equatable, Sendable, CustomStringConvertible {
    /// The inode of the file.
    package var file: UInt64
    /// The offset of the line after it, bytes.
    package var offset: UInt64

    package init(file: UInt64, offset: UInt64) {
        self.file = file
        self.offset = offset
    }

    /// Parses ``description``; `nil` for other texts.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let file = UInt64(parts[0]), let offset = UInt64(parts[1]),
            offset <= UInt64(Int64.max)
        else { return nil }
        self.init(file: file, offset: offset)
    }

    package var description: String { "\(file)-\(offset)" }
}
