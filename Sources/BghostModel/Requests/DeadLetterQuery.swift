// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// A question for dead letters, the newest first.
package struct DeadLetterQuery: Sendable {
    /// A place between two dead letters: when the one before it died, Unix nanoseconds, and its last run.
    package struct Place: Equatable, Sendable, Comparable {
        package var diedAt: Int64
        package var run: RunID

        package init(diedAt: Int64, run: RunID) {
            self.diedAt = diedAt
            self.run = run
        }

        package init(_ letter: DeadLetter) { self.init(diedAt: letter.diedAt, run: letter.run) }

        package static func < (a: Place, b: Place) -> Bool {
            (a.diedAt, a.run) < (b.diedAt, b.run)
        }

        static let newest = Place(diedAt: .max, run: RunID(high: .max, low: .max))
    }

    /// The most rows that one page reads, with those that it leaves out.
    package static let readMax = 20_000

    package var tasks: TaskFilter?
    /// Whether a task is one of the wanted plugin; `nil` for all.
    ///
    /// Any thread may call it.
    package var isOfPlugin: (@Sendable (_ task: String) -> Bool)?
    /// It died at this time or later, Unix nanoseconds.
    package var since: Int64?
    /// It died before this, Unix nanoseconds.
    package var until: Int64?
    /// Only dead letters behind this one.
    package var after: Place?
    package var limit: Int

    package init(
        tasks: TaskFilter? = nil,
        since: Int64? = nil,
        until: Int64? = nil,
        after: Place? = nil,
        limit: Int
    ) {
        self.tasks = tasks
        self.since = since
        self.until = until
        self.after = after
        self.limit = limit
    }

    /// The page has only dead letters behind this place.
    package var start: Place {
        let end = until.map { Place(diedAt: $0, run: RunID(high: 0, low: 0)) } ?? .newest
        return after.map { Swift.min($0, end) } ?? end
    }

    package func matches(task: String) -> Bool {
        (tasks?.matches(task) ?? true) && (isOfPlugin?(task) ?? true)
    }

    package func matches(_ letter: DeadLetter) -> Bool {
        Place(letter) < start && (since ?? .min) <= letter.diedAt
            && matches(task: letter.request.task)
    }
}

/// A page of dead letters, the newest first.
package struct DeadLetterPage: Equatable, Sendable {
    package var letters: [DeadLetter]
    /// Where the next page begins; `nil` if there is none.
    ///
    /// A page that reads the most rows may have fewer letters than its limit, even none.
    package var next: DeadLetterQuery.Place?

    package init(letters: [DeadLetter] = [], next: DeadLetterQuery.Place? = nil) {
        self.letters = letters
        self.next = next
    }

    /// Adds letters of this page that are not committed yet; later pages get those behind its end.
    package mutating func insert(_ others: some Sequence<DeadLetter>, limit: Int) {
        let ids = Set(others.map(\.request.id))
        letters.removeAll { ids.contains($0.request.id) }
        letters += others.filter { letter in next.map { $0 < .init(letter) } ?? true }
        letters.sort { DeadLetterQuery.Place($0) > DeadLetterQuery.Place($1) }
        guard letters.count > max(0, limit) else { return }
        letters.removeLast(letters.count - max(0, limit))
        next = letters.last.map { DeadLetterQuery.Place($0) }
    }
}
