// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// Selects runs; every condition that is set must hold.
package struct RunFilter: Equatable, Sendable {
    /// What has become of a run.
    package enum State: Equatable, Sendable {
        /// It has not ended.
        case running
        /// It has ended, and did not succeed.
        case unsuccessful
        case outcome(Outcome.Word)

        /// The words for all states, as clients give them.
        package static let words =
            ["running", "unsuccessful"] + Outcome.Word.allCases.map(\.rawValue)

        package init?(text: String) {
            switch text {
            case "running": self = .running
            case "unsuccessful": self = .unsuccessful
            default:
                guard let word = Outcome.Word(rawValue: text) else { return nil }
                self = .outcome(word)
            }
        }
    }

    package var task: String?
    package var plugin: String?
    package var state: State?
    /// The earliest end, Unix nanoseconds.
    package var since: Int64?
    /// The end is before this, Unix nanoseconds.
    package var until: Int64?
    /// The beginning of the run's id, in capital letters.
    package var idPrefix: String?
    /// A part of the message; ASCII letters match both cases.
    package var text: String?
    /// The run in which the run's request was submitted, or whose success it followed.
    package var submitterRun: RunID?
    /// The tasks of a tag; no client sets it.
    package var tagged: TaggedTasks?

    package init(
        task: String? = nil,
        plugin: String? = nil,
        state: State? = nil,
        since: Int64? = nil,
        until: Int64? = nil,
        idPrefix: String? = nil,
        text: String? = nil
    ) {
        self.task = task
        self.plugin = plugin
        self.state = state
        self.since = since
        self.until = until
        self.idPrefix = idPrefix
        self.text = text
    }

    /// Whether a run is selected.
    ///
    /// - Parameter now: counts as the end of a run that has not ended, Unix nanoseconds.
    package func matches(_ record: RunRecord, now: Int64) -> Bool {
        let end = record.endedAt ?? now
        return (task ?? record.task) == record.task
            && (plugin ?? record.plugin) == record.plugin
            && (state.map { Self.holds($0, record) } ?? true)
            && (since ?? .min) <= end && (until.map { end < $0 } ?? true)
            && (idPrefix.map { record.id.description.hasPrefix($0) } ?? true)
            && (text.map { Self.contains(record.message, $0) } ?? true)
            && (submitterRun.map { $0 == record.submitterRun } ?? true)
            && (tagged?.contains(record.task) ?? true)
    }

    private static func holds(_ state: State, _ record: RunRecord) -> Bool {
        switch state {
        case .running: record.state != .ended
        case .unsuccessful: record.outcome.map { $0 != .succeeded } ?? false
        case .outcome(let word): record.outcome?.word == word
        }
    }

    /// Whether a text has a part; ASCII letters match both cases.
    static func contains(_ message: String, _ part: String) -> Bool {
        func lowered(_ text: String) -> [UInt8] {
            text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")) ~= $0 ? $0 | 0x20 : $0 }
        }
        return lowered(message).contains(lowered(part))
    }
}

/// A question for a page of ended runs, the newest first.
///
/// Runs are numbered in the order in which their ends were stored.
package struct RunQuery: Equatable, Sendable {
    package var filter: RunFilter
    /// Only runs with a smaller number.
    package var before: Int64?
    /// Only runs with a greater number.
    package var after: Int64?
    package var limit: Int

    /// The most runs that are read to find those that no index selects.
    package static let readMax = 20_000

    package init(
        _ filter: RunFilter = RunFilter(),
        before: Int64? = nil,
        after: Int64? = nil,
        limit: Int
    ) {
        self.filter = filter
        self.before = before
        self.after = after
        self.limit = limit
    }
}

/// A page of runs, the newest first.
package struct RunPage: Equatable, Sendable {
    package struct Entry: Equatable, Sendable {
        package var record: RunRecord
        /// `nil` if its end is not stored yet.
        package var number: Int64?

        package init(_ record: RunRecord, number: Int64?) {
            self.record = record
            self.number = number
        }
    }

    package var entries: [Entry]
    /// `before` of the next page; `nil` if there are no older runs.
    package var next: Int64?
    /// The number of the newest run, selected or not: `after` of a later question.
    package var newest: Int64
    /// When the oldest run ended that was read, if the search stopped before the oldest one, Unix
    /// nanoseconds.
    package var searchedTo: Int64?

    package init(
        entries: [Entry] = [],
        next: Int64? = nil,
        newest: Int64 = 0,
        searchedTo: Int64? = nil
    ) {
        self.entries = entries
        self.next = next
        self.newest = newest
        self.searchedTo = searchedTo
    }

    package var runs: [RunRecord] { entries.map(\.record) }

    /// Puts newer runs before the page, and removes the oldest ones beyond a limit.
    package mutating func prepend(_ records: [RunRecord], limit: Int) {
        let known = Set(entries.map(\.record.id))
        let newer = records.filter { !known.contains($0.id) }.map { Entry($0, number: nil) }
        guard !newer.isEmpty else { return }
        entries.insert(contentsOf: newer, at: 0)
        guard entries.count > limit else { return }
        entries.removeLast(entries.count - limit)
        searchedTo = nil
        next = entries.last?.number ?? newest + 1
    }
}
