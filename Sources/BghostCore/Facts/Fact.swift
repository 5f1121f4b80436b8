// SPDX-License-Identifier: Apache-2.0

/// What is known of one requirement, from where, and since when.
package struct Fact: Equatable, Codable, Sendable {
    /// A value that a fact took.
    package struct Change: Equatable, Codable, Sendable {
        package var value: FactValue
        /// What was read when it changed.
        package var reading: String
        /// Unix nanoseconds.
        package var at: Int64

        package init(value: FactValue, reading: String, at: Int64) {
            self.value = value
            self.reading = reading
            self.at = at
        }
    }

    /// How many changes are kept.
    package static let changesMax = 3

    package private(set) var value: FactValue = .unknown
    /// What was read last, such as `online=0`.
    package private(set) var reading = "nothing watches it"
    /// Where that was read, such as `/sys/class/power_supply/AC/online`.
    package private(set) var source = ""
    /// Since when the value is this one, Unix nanoseconds; `nil` if nothing has been read yet.
    package private(set) var since: Int64?
    /// The last values that it took, the newest first.
    package private(set) var changes: [Change] = []

    package init() {}

    /// Takes what was read, and answers whether the value is another one.
    mutating func take(_ value: FactValue, reading: String, source: String, at unix: Int64) -> Bool
    {
        self.reading = reading
        self.source = source
        let isChanged = value != self.value
        if isChanged || since == nil {
            self.value = value
            since = unix
            changes.insert(Change(value: value, reading: reading, at: unix), at: 0)
            if changes.count > Self.changesMax { changes.removeLast() }
        }
        return isChanged
    }
}
