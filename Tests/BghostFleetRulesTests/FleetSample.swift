// SPDX-License-Identifier: Apache-2.0

import BghostBase

/// The lease of all hosts in tests, and instants by their seconds.
enum FleetSample {
    static let second: UInt64 = 1_000_000_000
    static let lease = 10 * second

    static func instant(_ seconds: Double) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: UInt64((seconds * Double(second)).rounded()))
    }
}
