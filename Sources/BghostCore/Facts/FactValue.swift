// SPDX-License-Identifier: Apache-2.0

/// Whether something holds of the machine, as far as that can be told.
///
/// Not to know is an answer of its own: what follows from it is the policy's to say.
package enum FactValue: String, Equatable, Sendable, CaseIterable {
    case holds
    case fails
    case unknown
}

/// One moment on both clocks: rules run on the monotonic one, people read the other.
package struct FactMoment: Equatable, Sendable {
    /// Monotonic nanoseconds.
    package var monotonic: UInt64
    /// Unix nanoseconds.
    package var unix: Int64

    package init(monotonic: UInt64, unix: Int64) {
        self.monotonic = monotonic
        self.unix = unix
    }
}
