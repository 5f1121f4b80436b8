// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The throttle policy of a task: which runs add throttle points, and how long the points delay it.
package struct ThrottlePolicy: Equatable, Sendable {
    package enum Mode: String, Equatable, Sendable, CaseIterable {
        case on
        /// Points are counted and shown, but delay nothing.
        case dryRun
        case off
    }

    package var mode: Mode
    /// The time after its cancellation in which a run can stop without a point; `nil` means half of its
    /// grace.
    package var stopWithin: Duration?
    /// The upper limit of the delay.
    package var delayMax: Duration

    package init(
        mode: Mode = .on,
        stopWithin: Duration? = nil,
        delayMax: Duration = .seconds(86_400)
    ) {
        self.mode = mode
        self.stopWithin = stopWithin
        self.delayMax = delayMax
    }

    /// The time that a run with these limits has to stop without a point, nanoseconds.
    package func stopLimit(_ limits: RunLimits) -> UInt64 {
        stopWithin?.clampedNanoseconds ?? limits.grace.clampedNanoseconds / 2
    }
}
