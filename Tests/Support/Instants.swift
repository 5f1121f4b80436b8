// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// Seconds as monotonic nanoseconds.
package func seconds(_ seconds: Double) -> UInt64 { UInt64((seconds * 1e9).rounded()) }

/// Seconds as a moment on both clocks; the wall clock began a day earlier.
package func moment(_ seconds: Double) -> Moment {
    Moment(
        monotonic: UInt64((seconds * 1e9).rounded()),
        unix: Int64((seconds * 1e9).rounded()) + 86_400_000_000_000
    )
}
