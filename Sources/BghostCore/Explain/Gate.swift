// SPDX-License-Identifier: Apache-2.0

/// One thing that may keep a request from its run, and how it stands.
package struct Gate: Equatable, Sendable {
    /// What it is about: stable words, in the order in which they are told.
    package enum Kind: String, Equatable, Sendable, CaseIterable {
        case pluginDisabled
        case pluginMissing
        case manifestRemoved
        case notBefore
        /// It may begin later than its date, to meet others.
        case coalescing
        /// It may begin later than its date, to be done before a usual use.
        case usualUse
        /// Its latest begin date.
        case notAfter
        /// It serves a time of a calendar, and the clock may be wrong yet.
        case clockUnsynced
        case throttle
        /// Its plugin's runs took too long within a day.
        case budget
        case requirement
        /// Another request of its task goes first.
        case predecessor
        case overlap
        /// Runs of its handler exclude one another.
        case handler
        case slot
        /// A newer request of its task is about to take its place.
        case replacement
        /// The daemon is about to end.
        case drain
    }

    package var kind: Kind
    /// Which one, where a request has several of a kind: the requirement's name; else "".
    package var name: String
    /// Whether it lets the request pass.
    package var isOpen: Bool
    /// What there is now.
    package var now: String
    /// What there must be.
    package var wanted: String
    /// Where that is read; "" if it is the daemon's own.
    package var source: String
    /// Since when it is so, Unix nanoseconds; `nil` if that is not known.
    package var since: Int64?
    /// When it opens by itself, or did, Unix nanoseconds; `nil` if nobody can tell.
    package var until: Int64?
    /// What would open it, for people; "" if only time does, or nothing.
    package var remedy: String
    /// How things would be with it open, to follow "if"; "" if nothing opens it any more.
    package var condition: String
    /// What it was before, the newest first.
    package var changes: [Fact.Change]
    /// The runs or requests that close it, at most `idsMax`.
    package var ids: [RunID]

    /// How many ids are told.
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

    /// Its kind, and which of several: `requirement(network)`.
    package var label: String { kind.rawValue + (name.isEmpty ? "" : "(\(name))") }

    /// What a closed gate waits for, in a few words.
    package var sentence: String {
        switch kind {
        case .notBefore: "its earliest begin date" + (source.isEmpty ? "" : ": \(source)")
        case .coalescing:
            "others, which it may meet"
                + (until.map { " at \(Timestamp.text(unixNanoseconds: $0))" } ?? "")
        case .usualUse:
            "its usual use"
                + (until.map { ", for which it begins at \(Timestamp.text(unixNanoseconds: $0))" }
                    ?? "")
        case .clockUnsynced:
            "a clock that can be believed: \(now)"
                + (until.map { "; until \(Timestamp.text(unixNanoseconds: $0)) at the most" } ?? "")
        case .throttle:
            "what its last runs owe for not stopping in time"
                + (until.map { ", until \(Timestamp.text(unixNanoseconds: $0))" } ?? "")
        case .predecessor: "another request of its task, which goes first"
        case .budget:
            "its plugin's runtime, since \(now)"
                + (until.map { "; until \(Timestamp.text(unixNanoseconds: $0))" } ?? "")
        case .overlap: "the run of it that is under way"
        case .handler: "a run of its handler, which says that it takes one at a time"
        case .slot: "a free slot; \(now)"
        case .requirement: "\(name): \(wanted) is wanted; \(source) says \(now)"
        case .pluginDisabled, .pluginMissing, .manifestRemoved, .notAfter, .replacement, .drain:
            now
        }
    }
}
