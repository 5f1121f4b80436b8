// SPDX-License-Identifier: Apache-2.0

/// The health of the daemon: a check for each thing that an operator can repair.
package struct HealthReport: Codable, Equatable, Sendable {
    /// How a check ended; as Nagios plugins have it.
    package enum State: String, Codable, Comparable, Sendable, CaseIterable {
        case ok
        /// The daemon works, and an operator should look.
        case warning
        /// The daemon does not do its work.
        case critical

        package static func < (a: State, b: State) -> Bool { a.rank < b.rank }

        /// 0, 1 or 2: also the exit status of `bghost health`.
        package var rank: Int32 {
            switch self {
            case .ok: 0
            case .warning: 1
            case .critical: 2
            }
        }
    }

    /// One check.
    package struct Check: Codable, Equatable, Sendable {
        /// What is checked, such as `store`.
        package var name: String
        /// How it ended.
        package var state: State
        /// Since when it is in this state; null if that is not known.
        @FormOrNull<RFC3339> package var since: Int64?
        /// What was found, one sentence without a full stop.
        package var message: String
        /// What to do about it; "" if nothing.
        @OrDefault package var remedy: String

        package init(
            _ name: String,
            _ state: State,
            since: Int64? = nil,
            _ message: String,
            remedy: String = ""
        ) {
            self.name = name
            self.state = state
            self.since = since
            self.message = message
            self.remedy = remedy
        }
    }

    /// The worst state of the checks.
    package var state: State
    /// The checks, in a fixed order.
    @Elements package var checks: [Check]

    package init(checks: [Check]) {
        self.checks = checks
        state = checks.map(\.state).max() ?? .ok
    }
}

/// Whether the daemon accepts work and keeps it.
package struct ReadinessReport: Codable, Equatable, Sendable {
    /// A reason why not.
    package struct Reason: Codable, Equatable, Sendable {
        /// In one word: `stopping`, `store`, `transferJournal` or `unresponsive`.
        package var word: String
        /// Since when; null if that is not known.
        @FormOrNull<RFC3339> package var since: Int64?
        /// One sentence without a full stop.
        package var message: String

        package init(_ word: String, since: Int64? = nil, _ message: String) {
            self.word = word
            self.since = since
            self.message = message
        }
    }

    /// Whether it does.
    package var ready: Bool
    /// Why not; empty if it does.
    @ElementsOrEmpty package var reasons: [Reason]

    package init(reasons: [Reason] = []) {
        self.reasons = reasons
        ready = reasons.isEmpty
    }

    /// The reasons in one line; "" if there is none.
    package var sentence: String { reasons.map(\.message).joined(separator: "; ") }
}

extension API {
    /// The daemon answers.
    package struct Alive: Codable, Equatable, Sendable {
        /// Always true: a daemon that does not answer says nothing, or `BG4001`.
        package var alive: Bool

        package init(alive: Bool) { self.alive = alive }
    }
}
