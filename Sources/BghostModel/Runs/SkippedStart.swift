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
package struct SkippedStartQuery: Equatable, Sendable {
    package var task: String?
    /// The earliest due date, Unix nanoseconds.
    package var since: Int64?
    /// It was due before this, Unix nanoseconds.
    package var until: Int64?
    package var limit: Int

    package init(
        task: String? = nil,
        since: Int64? = nil,
        until: Int64? = nil,
        limit: Int
    ) {
        self.task = task
        self.since = since
        self.until = until
        self.limit = limit
    }

    package func matches(_ start: SkippedStart) -> Bool {
        (task ?? start.task) == start.task && (since ?? .min) <= start.due
            && (until.map { start.due < $0 } ?? true)
    }
}
