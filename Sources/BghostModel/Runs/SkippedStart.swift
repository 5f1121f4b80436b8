// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// A start that did not happen, or happened late, for the history.
package struct SkippedStart: Equatable, Sendable {
    /// What happened instead.
    package enum Kind: String, Equatable, Sendable, CaseIterable {
        /// Its task was running and has `"overlap": "skip"`.
        case overlap
        /// Its task was paused.
        case paused
        /// Its latest begin date passed.
        case late
        /// Its task was missing in the manifest for as long as such a request is kept.
        case notPermitted
        /// Another host of the fleet served it.
        case servedElsewhere
        /// Starts of a schedule were missed, and the schedule skips them.
        case misfire
        /// Starts of a schedule were missed, and one run makes up for them.
        case merged
        /// It was due, waited, and then began.
        case delayed
    }

    package var task: String
    package var kind: Kind
    /// `nil` for starts of a schedule for which there was no request.
    package var request: RunID?
    /// When it, or the first of several, was due, Unix nanoseconds.
    package var due: Int64
    /// When it was skipped or began, Unix nanoseconds.
    package var until: Int64
    /// The number of starts.
    package var count: Int
    /// What it waited for; "" if it did not wait, or if that is unknown.
    package var cause: String
    /// Since when it had to wait for that, Unix nanoseconds, which may be before it was due; `nil` if
    /// unknown.
    package var causeSince: Int64?

    package init(
        task: String,
        kind: Kind,
        request: RunID? = nil,
        due: Int64,
        until: Int64,
        count: Int = 1,
        cause: String = "",
        causeSince: Int64? = nil
    ) {
        self.task = task
        self.kind = kind
        self.request = request
        self.due = due
        self.until = until
        self.count = count
        self.cause = cause
        self.causeSince = causeSince
    }

    /// A sentence for people, without a full stop.
    package var sentence: String {
        func text(_ time: Int64) -> String { Timestamp.text(unixNanoseconds: time) }
        let starts = "\(count) \(count == 1 ? "start" : "starts")"
        let waited =
            cause.isEmpty
            ? "" : "waited for \(cause) from \(text(causeSince ?? due)) until \(text(until))"
        switch kind {
        case .overlap: return "skipped, since its task was running (`overlap: skip`)"
        case .paused:
            let starts = count == 1 ? "skipped" : "missed \(starts) since \(text(due))"
            return "\(starts), since its task was paused" + (cause.isEmpty ? "" : " \(cause)")
        case .late:
            return "skipped, since its latest begin date had passed"
                + (waited.isEmpty ? "" : "; it \(waited)")
        case .notPermitted:
            return "dropped, since the manifest had not permitted its task for a week"
        case .servedElsewhere:
            return "not started here, since " + (cause.isEmpty ? "another host" : cause)
                + " served it (`runs: onceInFleet`)"
        case .misfire: return "missed \(starts) since \(text(due)), skipped (`misfire: skip`)"
        case .merged: return "missed \(starts) since \(text(due)); one run made up for that"
        case .delayed: return waited.isEmpty ? "began late, at \(text(until))" : waited
        }
    }
}

/// A question for starts that did not happen, the latest due date first.
package struct SkippedStartQuery: Sendable {
    /// A place between two rows: when the row before it was due, Unix nanoseconds, and its number.
    package struct Place: Equatable, Sendable {
        package var due: Int64
        package var number: Int64

        package init(due: Int64, number: Int64) {
            self.due = due
            self.number = number
        }
    }

    /// The number of the first row that is not committed; committed rows have smaller ones.
    package static let uncommitted: Int64 = 1 << 62
    /// The most rows that one page reads, with those that it leaves out.
    package static let readMax = 20_000

    package var tasks: TaskFilter?
    /// Whether a task is one of the wanted plugin; `nil` for all.
    ///
    /// Any thread may call it.
    package var isOfPlugin: (@Sendable (_ task: String) -> Bool)?
    package var kind: SkippedStart.Kind?
    /// The earliest due date, Unix nanoseconds.
    package var since: Int64?
    /// It was due before this, Unix nanoseconds.
    package var until: Int64?
    /// Only rows behind this one.
    package var after: Place?
    package var limit: Int

    package init(
        tasks: TaskFilter? = nil,
        kind: SkippedStart.Kind? = nil,
        since: Int64? = nil,
        until: Int64? = nil,
        after: Place? = nil,
        limit: Int
    ) {
        self.tasks = tasks
        self.kind = kind
        self.since = since
        self.until = until
        self.after = after
        self.limit = limit
    }

    /// Whether a row is wanted that is due within the times.
    package func matches(task: String, kind: String) -> Bool {
        (self.kind?.rawValue ?? kind) == kind && (tasks?.matches(task) ?? true)
            && (isOfPlugin?(task) ?? true)
    }

    package func matches(_ start: SkippedStart) -> Bool {
        (since ?? .min) <= start.due && (until.map { start.due < $0 } ?? true)
            && matches(task: start.task, kind: start.kind.rawValue)
    }

    /// Whether a row is behind ``after``.
    package func isAfter(due: Int64, number: Int64) -> Bool {
        guard let after else { return true }
        return (due, number) < (after.due, after.number)
    }
}

/// A page of starts that did not happen, the latest due date first.
package struct SkippedStartPage: Equatable, Sendable {
    package var starts: [SkippedStart]
    /// Where the next page begins; `nil` if there is none.
    ///
    /// A page that reads the most rows may have fewer starts than its limit, even none.
    package var next: SkippedStartQuery.Place?

    package init(starts: [SkippedStart] = [], next: SkippedStartQuery.Place? = nil) {
        self.starts = starts
        self.next = next
    }

    /// Assembles a page.
    ///
    /// - Parameters:
    ///   - rows: wanted rows with their numbers, in any order; each once.
    ///   - end: the last row that was read, if there may be more behind it.
    package init(
        _ rows: [(start: SkippedStart, number: Int64)],
        end: SkippedStartQuery.Place?,
        limit: Int
    ) {
        let wanted = rows.filter { row in
            end.map { (row.start.due, row.number) >= ($0.due, $0.number) } ?? true
        }
        let sorted = wanted.sorted { ($0.start.due, $0.number) > ($1.start.due, $1.number) }
        starts = sorted.prefix(max(0, limit)).map(\.start)
        next = end
        if sorted.count > limit, limit > 0 {
            next = .init(due: sorted[limit - 1].start.due, number: sorted[limit - 1].number)
        }
    }
}
