// SPDX-License-Identifier: Apache-2.0

/// The state of one requirement: its value, its source, and the time of its last change.
package struct Fact: Equatable, Codable, Sendable {
    /// A former or current value of a fact.
    package struct Change: Equatable, Codable, Sendable {
        package var value: FactValue
        /// The reading at the time of the change.
        package var reading: String
        /// Unix nanoseconds.
        package var at: Int64

        package init(value: FactValue, reading: String, at: Int64) {
            self.value = value
            self.reading = reading
            self.at = at
        }
    }

    /// The number of changes that are kept.
    package static let changesMax = 3

    package private(set) var value: FactValue = .unknown
    /// The last reading, such as `online=0`.
    package private(set) var reading = "nothing watches it"
    /// The source of the reading, such as `/sys/class/power_supply/AC/online`.
    package private(set) var source = ""
    /// The time of the last change of the value, Unix nanoseconds; `nil` before the first reading.
    package private(set) var since: Int64?
    /// The last values, the newest first.
    package private(set) var changes: [Change] = []

    package init() {}

    /// Records a reading.
    ///
    /// - Returns: whether the value has changed.
    mutating func update(_ value: FactValue, reading: String, source: String, at unix: Int64)
        -> Bool
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
