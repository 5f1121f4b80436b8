// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostFacts

/// A condition that may block a request, and its state.
package struct Gate: Equatable, Sendable {
    /// The kind of a gate: stable words, in the order of the output.
    package enum Kind: String, Equatable, Sendable, CaseIterable {
        /// An operator has paused its task.
        case paused
        case pluginDisabled
        case pluginMissing
        case manifestRemoved
        case notBefore
        /// The request may start later than its date, together with others.
        case coalescing
        /// The request may start later than its date, before a usual use.
        case usualUse
        /// Its latest begin date.
        case notAfter
        /// The request serves a calendar time, and the clock is not trusted.
        case clockUnsynced
        case throttle
        /// The runtime budget of its plugin is used up.
        case budget
        case requirement
        /// Another request of its task starts first.
        case predecessor
        case overlap
        /// Only one run of its handler is permitted at a time.
        case handler
        case slot
        /// Another host of the fleet serves its start, or this one may not.
        case fleet
        /// A newer request of its task is replacing it.
        case replacement
        /// The store cannot write changes.
        case store
        /// The daemon is stopping.
        case drain

        /// Whether a healthy task on a healthy daemon never waits for this gate.
        package var isExceptional: Bool {
            switch self {
            case .paused, .pluginDisabled, .pluginMissing, .manifestRemoved, .notAfter,
                .clockUnsynced, .throttle, .budget, .store:
                true
            case .notBefore, .coalescing, .usualUse, .requirement, .predecessor, .overlap,
                .handler, .slot, .fleet, .replacement, .drain:
                false
            }
        }
    }

    package var kind: Kind
    /// The name of the requirement; "" for other kinds.
    package var name: String
    /// Whether the gate is met.
    package var isOpen: Bool
    /// The current state.
    package var now: String
    /// The required state.
    package var wanted: String
    /// Where the state is read; "" if it is the daemon's own.
    package var source: String
    /// The time of the last change, Unix nanoseconds; `nil` if it is unknown.
    package var since: Int64?
    /// When the gate unblocks by itself, or did, Unix nanoseconds; `nil` if it cannot be predicted.
    package var until: Int64?
    /// How people can unblock it; "" if they cannot.
    package var remedy: String
    /// The met condition as a clause after "if"; "" if it can never be met.
    package var condition: String
    /// The previous states, the newest first.
    package var changes: [Fact.Change]
    /// The runs or requests that block it, at most `idsMax`.
    package var ids: [RunID]

    /// The most ids in a gate.
    package static let idsMax = 8

    package init(
        _ kind: Kind,
        name: String = "",
        isOpen: Bool,
        now: String,
        wanted: String,
        source: String = "",
        since: Int64? = nil,
        until: Int64? = nil,
        remedy: String = "",
        condition: String = "",
        changes: [Fact.Change] = [],
        ids: [RunID] = []
    ) {
        self.kind = kind
        self.name = name
        self.isOpen = isOpen
        self.now = now
        self.wanted = wanted
        self.source = source
        self.since = since
        self.until = until
        self.remedy = remedy
        self.condition = condition
        self.changes = changes
        self.ids = ids
    }

    /// The kind, with the name in parentheses: `requirement(network)`.
    package var label: String { kind.rawValue + (name.isEmpty ? "" : "(\(name))") }

    /// What an unmet gate waits for, in a few words.
    package var sentence: String {
        switch kind {
        case .notBefore: "its earliest begin date" + (source.isEmpty ? "" : ": \(source)")
        case .coalescing:
            "other tasks, to start together"
                + (until.map { " at \(Timestamp.text(unixNanoseconds: $0))" } ?? "")
        case .usualUse:
            "its usual use"
                + (until.map { ": starts at \(Timestamp.text(unixNanoseconds: $0))" } ?? "")
        case .clockUnsynced:
            "a synchronized clock: \(now)"
                + (until.map { "; until \(Timestamp.text(unixNanoseconds: $0)) at the latest" }
                    ?? "")
        case .throttle:
            "throttled"
                + (until.map { " until \(Timestamp.text(unixNanoseconds: $0))" } ?? "")
                + " (\(now))"
        case .predecessor: "an earlier request of its task"
        case .budget:
            "the daily runtime of its plugin: \(now)"
                + (until.map { "; until \(Timestamp.text(unixNanoseconds: $0))" } ?? "")
        case .overlap: "the current run of the task"
        case .handler: "the current run of its handler, which runs one at a time"
        case .slot: "waiting for a slot (\(now))"
        case .requirement: "\(name): \(now)" + (source.isEmpty ? "" : " (\(source))")
        case .paused:
            now + (until.map { "; until \(Timestamp.text(unixNanoseconds: $0))" } ?? "")
        case .pluginDisabled, .pluginMissing, .manifestRemoved, .notAfter, .fleet, .replacement,
            .store, .drain:
            now
        }
    }
}
