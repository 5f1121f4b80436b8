// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

extension API {
    /// A start that did not happen, or happened late.
    package struct SkippedStart: Codable, Equatable, Sendable {
        /// The identifier of its task.
        package var task: String
        /// What happened instead: `overlap`, `paused`, `late`, `notPermitted`, `servedElsewhere`, `misfire`,
        /// `merged` or `delayed`.
        package var what: String
        /// The id of its request; null if there was none.
        @FormOrNull<ULID> package var request: RunID?
        /// When it, or the first of several, was due.
        @Formatted<RFC3339> package var due: Int64
        /// When it was skipped, or began.
        @Formatted<RFC3339> package var until: Int64
        /// The number of starts.
        @OrDefault package var count: Int
        /// What it waited for; null if it did not wait.
        @EmptyAsNull package var cause: String
        /// Since when it had to wait for that; null if unknown.
        @FormOrNull<RFC3339> package var causeSince: Int64?
        /// The same for people.
        @OrDefault package var sentence: String

        package init(_ start: BghostModel.SkippedStart) {
            task = start.task
            what = start.kind.rawValue
            request = start.request
            due = start.due
            until = start.until
            count = start.count
            cause = start.cause
            causeSince = start.causeSince
            sentence = start.sentence
        }
    }

    /// Starts that did not happen, or happened late, the latest due date first.
    package struct StartList: Codable, Equatable, Sendable {
        /// The starts.
        @Elements package var starts: [SkippedStart]
        /// `cursor` for the next page, also if this page is shorter than its limit or empty, since it ends after
        /// 20,000 rows; null if there is none.
        @OrNull package var next: String?

        package init(starts: [SkippedStart], next: String? = nil) {
            self.starts = starts
            self.next = next
        }
    }

    /// What happened to a task around a time.
    package struct Past: Codable, Equatable, Sendable {
        /// The identifier of the task.
        package var task: String
        /// The time.
        @Formatted<RFC3339> package var at: Int64
        /// In one word: `ran`, `delayed`, `skipped`, `waiting`, `notDue` or `notKept`.
        package var what: String
        /// The same for people, one sentence.
        package var sentence: String
        /// The run that began then, or that began in the end; null if there is none.
        @OrNull package var run: Run?
        /// The starts around the time that did not happen, or happened late; the nearest first.
        @ElementsOrEmpty package var starts: [SkippedStart]
        /// When the oldest run ended that is kept; null if there is none.
        @FormOrNull<RFC3339> package var keptSince: Int64?

        package init(_ past: PastExplanation) {
            task = past.task
            at = past.at
            what = past.kind.rawValue
            sentence = past.sentence
            run = past.run.map { Run($0) }
            starts = past.starts.map { SkippedStart($0) }
            keptSince = past.keptSince
        }
    }
}
