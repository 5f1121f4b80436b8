// SPDX-License-Identifier: Apache-2.0

/// One moment on both clocks: limits run on the monotonic one, dates are of the other, which may be
/// set at any time.
package struct Moment: Equatable, Codable, Sendable {
    /// Monotonic nanoseconds.
    package var monotonic: UInt64
    /// Unix nanoseconds.
    package var unix: Int64

    package init(monotonic: UInt64, unix: Int64) {
        self.monotonic = monotonic
        self.unix = unix
    }
}
