// SPDX-License-Identifier: Apache-2.0

/// Why the wall clock is not believed yet.
package enum ClockDoubt: Equatable, Codable, Sendable {
    /// It shows a time before this bghost was made, as machines without a battery for it do.
    case implausible
    /// The machine has just started, and nobody has told its kernel the time.
    case unsynchronised

    /// 2026-11-01: no clock that is right shows an earlier time, Unix nanoseconds.
    package static let oldest: Int64 = 1_793_491_200_000_000_000
    /// How long a machine has just started, nanoseconds.
    package static let bootTime: UInt64 = 600_000_000_000
    /// How long calendars wait for a clock at the most, nanoseconds: rather late by a wrong clock than
    /// never, where there is no time service at all.
    package static let waitMax: UInt64 = 600_000_000_000

    /// - Parameters:
    ///   - unix: what it shows, Unix nanoseconds.
    ///   - uptime: since the machine started, nanoseconds.
    ///   - isSynchronised: what the kernel says; `nil` if it does not.
    package init?(unix: Int64, uptime: UInt64, isSynchronised: Bool?) {
        if unix < Self.oldest {
            self = .implausible
        } else if isSynchronised == false, uptime < Self.bootTime {
            self = .unsynchronised
        } else {
            return nil
        }
    }

    /// What is wrong, for people.
    package var sentence: String {
        switch self {
        case .implausible: "the clock shows a time before this bghost was made"
        case .unsynchronised: "the machine has just started, and its clock is not synchronised yet"
        }
    }
}
