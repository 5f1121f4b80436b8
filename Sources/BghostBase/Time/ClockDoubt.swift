// SPDX-License-Identifier: Apache-2.0

/// The reason for which the wall clock is not trusted.
package enum ClockDoubt: Equatable, Codable, Sendable {
    /// It shows a time before this bghost was built, as on machines without a battery for the clock.
    case implausible
    /// The machine has just started, and its kernel's clock is not synchronized.
    case unsynchronised

    /// 2026-11-01: a correct clock never shows an earlier time, Unix nanoseconds.
    package static let oldest: Int64 = 1_793_491_200_000_000_000
    /// The time after boot during which an unsynchronized clock is not trusted, nanoseconds.
    static let bootTime: UInt64 = 600_000_000_000
    /// The maximum time for which calendars wait for the clock, nanoseconds.
    ///
    /// Without a time service, late runs by a wrong clock are better than none.
    package static let waitMax: UInt64 = 600_000_000_000

    /// - Parameters:
    ///   - unix: the time of the clock, Unix nanoseconds.
    ///   - uptime: the time since boot, nanoseconds.
    ///   - isSynchronised: the status from the kernel; `nil` if it is unknown.
    package init?(unix: Int64, uptime: UInt64, isSynchronised: Bool?) {
        if unix < Self.oldest {
            self = .implausible
        } else if isSynchronised == false, uptime < Self.bootTime {
            self = .unsynchronised
        } else {
            return nil
        }
    }

    /// Checks a clock that an operator simulates: it needs no time service, but the years before bghost was
    /// built would make each start in between a missed one.
    package init?(simulated unix: Int64) {
        guard unix < Self.oldest else { return nil }
        self = .implausible
    }

    /// The reason, for people.
    package var sentence: String {
        switch self {
        case .implausible: "the clock shows a time before this bghost was made"
        case .unsynchronised: "the machine has just started, and its clock is not synchronised yet"
        }
    }
}
