// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostFleetRules

/// The lease of all hosts in tests, instants by their seconds, and numbers of fences.
package enum FleetSample {
    package static let second: UInt64 = 1_000_000_000
    package static let lease = 10 * second

    package static func fence(_ count: Int, nonce: UInt64 = 1) -> FenceNumber {
        FenceNumber(count: count, nonce: FenceNonce(stored: nonce))
    }

    package static func instant(_ seconds: Double) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: UInt64((seconds * Double(second)).rounded()))
    }
}
