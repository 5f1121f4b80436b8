// SPDX-License-Identifier: Apache-2.0

internal import BghostFacts

/// The history of a gate's changes.
struct GateHistory: Sendable {
    /// The last changes, the newest first; at most `Fact.changesMax`.
    private(set) var changes: [Fact.Change] = []

    /// The time of the last change, Unix nanoseconds; `nil` if there was none since the start.
    var since: Int64? { changes.first?.at }

    /// Records the current state; ignores it if it has not changed.
    mutating func record(isOpen: Bool, reading: String, at unix: Int64) {
        let value: FactValue = isOpen ? .holds : .fails
        guard value != changes.first?.value ?? .holds else { return }
        changes.insert(Fact.Change(value: value, reading: reading, at: unix), at: 0)
        if changes.count > Fact.changesMax { changes.removeLast() }
    }
}
