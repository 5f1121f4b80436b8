// SPDX-License-Identifier: Apache-2.0

package import BghostBase

extension JSONWriter {
    /// Writes a member with a time as RFC 3339 has it, or null.
    package mutating func member(_ key: String, time unixNanoseconds: Int64?) {
        member(key, unixNanoseconds.map { Timestamp.text(unixNanoseconds: $0) })
    }

    /// Writes a member with a duration in seconds, to the microsecond, or null.
    package mutating func member(_ key: String, duration: Duration?) {
        self.key(key)
        guard let duration else { return null() }
        // Divided once, so that 1.2 s is written `1.2`.
        value(Double(duration.clampedNanoseconds / 1000) / 1_000_000)
    }

    /// Writes a number or null.
    mutating func optional(_ number: (some BinaryInteger)?) {
        if let number { value(number) } else { null() }
    }
}

extension JSONNode {
    /// The time of a member, Unix nanoseconds.
    func time(_ key: String) -> Int64? {
        self[key]?.string.flatMap { Timestamp.unixNanoseconds($0) }
    }

    /// The duration of a member that is in seconds.
    package func duration(_ key: String) -> Duration? {
        guard let seconds = self[key]?.double, seconds >= 0, seconds < 9e9 else { return nil }
        return .microseconds(Int64((seconds * 1_000_000).rounded()))
    }

    /// The id of a member.
    package func runID(_ key: String) -> RunID? { self[key]?.string.flatMap { RunID($0) } }
}
