// SPDX-License-Identifier: Apache-2.0

/// When a gate closed and opened.
struct GateHistory: Sendable {
    /// As many as are kept of a fact, the newest first.
    private(set) var changes: [Fact.Change] = []

    /// Since when it is as it is, Unix nanoseconds; `nil` if it has been so since before it was
    /// watched.
    var since: Int64? { changes.first?.at }

    /// Takes how it stands now; that it still stands so is no news.
    mutating func take(isOpen: Bool, reading: String, at unix: Int64) {
        let value: FactValue = isOpen ? .holds : .fails
        guard value != changes.first?.value ?? .holds else { return }
        changes.insert(Fact.Change(value: value, reading: reading, at: unix), at: 0)
        if changes.count > Fact.changesMax { changes.removeLast() }
    }
}
