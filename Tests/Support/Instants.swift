// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// Seconds as a length in nanoseconds.
package func seconds(_ seconds: Double) -> UInt64 { UInt64((seconds * 1e9).rounded()) }

/// The instant so many seconds after the machine started.
package func seconds(_ seconds: Double) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: UInt64((seconds * 1e9).rounded()))
}

/// Seconds as a moment on both clocks; the wall clock began a day earlier.
package func moment(_ seconds: Double) -> Moment {
    Moment(
        monotonic: MonotonicInstant(nanoseconds: UInt64((seconds * 1e9).rounded())),
        unix: Int64((seconds * 1e9).rounded()) + 86_400_000_000_000
    )
}

/// Only tests write monotonic instants as numbers: the daemon reads them from a clock.
extension MonotonicInstant: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: UInt64) { self.init(nanoseconds: value) }
}
