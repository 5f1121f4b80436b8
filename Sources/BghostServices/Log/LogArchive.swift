// SPDX-License-Identifier: Apache-2.0

package import BghostModel

/// Displays the lines of the log.
///
/// `write` must not block, and any thread may call it.
package protocol LogConsole: Sendable {
    func write(_ entry: LogEntry)
}

/// Keeps the lines of the log in files.
///
/// Any thread may use it, and no call blocks.
package protocol LogArchive: LogConsole {
    /// Takes up other settings, and opens the file again if it was moved.
    func apply(_ settings: LogSettings)

    /// Opens the file again if it was moved.
    func reopen()

    /// `nil` if no file is written.
    var status: LogFileStatus? { get }

    /// Searches the files, on a thread of its own, and then calls the closure there.
    func search(_ search: LogSearch, _ body: @escaping @Sendable (LogFindings) -> Void)
}

/// The state of the log's file.
package struct LogFileStatus: Equatable, Sendable {
    /// Absolute.
    package var path: String
    package var format: LogSettings.Format
    /// Why lines cannot be written, one sentence without a full stop; `nil` if they can.
    package var problem: String?
    /// Since when, Unix nanoseconds.
    package var problemSince: Int64?
    /// Whether the file was moved, so that lines are written under another name.
    package var isMoved = false
    /// How many lines were not written since the daemon started.
    package var lost: UInt64 = 0

    package init(path: String, format: LogSettings.Format) {
        self.path = path
        self.format = format
    }
}

/// A question for lines in the log's files.
package struct LogSearch: Equatable, Sendable {
    package var filter: LogFilter
    package var limit: Int
    /// Only lines before this place; `nil` begins with the newest line.
    package var before: LogCursor?
    /// Of the lines that this daemon wrote, only those with smaller sequence numbers; `nil` for all.
    package var belowSequence: UInt64?

    package init(
        _ filter: LogFilter,
        limit: Int,
        before: LogCursor? = nil,
        belowSequence: UInt64? = nil
    ) {
        self.filter = filter
        self.limit = limit
        self.before = before
        self.belowSequence = belowSequence
    }
}

/// What a search of the log's files found.
package struct LogFindings: Equatable, Sendable {
    package struct Line: Equatable, Sendable {
        package var entry: LogEntry
        /// Where it begins.
        package var place: LogCursor
        /// Whether the running daemon wrote it.
        package var isOwn: Bool

        package init(_ entry: LogEntry, at place: LogCursor, isOwn: Bool) {
            self.entry = entry
            self.place = place
            self.isOwn = isOwn
        }
    }

    /// The newest first.
    package var lines: [Line]
    /// Where to go on; `nil` if there are no older lines.
    package var next: LogCursor?
    /// Whether lines of the running daemon may follow there.
    package var hasOwnNext: Bool
    /// Why files could not be read; `nil` if they could.
    package var problem: String?

    package init(
        lines: [Line] = [],
        next: LogCursor? = nil,
        hasOwnNext: Bool = false,
        problem: String? = nil
    ) {
        self.lines = lines
        self.next = next
        self.hasOwnNext = hasOwnNext
        self.problem = problem
    }
}
