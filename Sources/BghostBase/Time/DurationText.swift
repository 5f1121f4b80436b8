// SPDX-License-Identifier: Apache-2.0

/// Formats durations for people: `1.25 s`, `340 ms`, `12 µs`.
package enum DurationText {
    package static func of(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        return of(
            nanoseconds: UInt64(max(0, seconds)) &* 1_000_000_000
                &+ UInt64(max(0, attoseconds) / 1_000_000_000)
        )
    }

    package static func of(nanoseconds: UInt64) -> String {
        switch nanoseconds {
        case ..<1_000_000: "\(nanoseconds / 1000) µs"
        case ..<1_000_000_000: "\(nanoseconds / 1_000_000) ms"
        default:
            "\(nanoseconds / 1_000_000_000)."
                + String(100 + nanoseconds / 10_000_000 % 100).dropFirst() + " s"
        }
    }
}
