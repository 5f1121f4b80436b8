// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// Limits the rate of a worker's unsolicited frames: log lines and progress.
///
/// The runtime in the worker enforces lower limits, so a worker above this limit bypassed the
/// runtime. A small excess is dropped and counted, because a busy daemon reads frames late and in
/// bursts. A large excess is a reason to kill the worker.
package typealias ReportRateLimiter = RateLimiter<ReportRateLimits>

/// Limits the rate of a plugin's calls to the daemon, each of which uses the daemon's processor time.
package typealias CallRateLimiter = RateLimiter<CallRateLimits>

/// How many frames of a kind are allowed in a second.
package protocol RateLimits {
    static var perSecond: Int { get }
    /// How many frames above the rate are dropped before it counts as a flood.
    static var droppedMax: Int { get }
    /// Whether the excess accumulates over consecutive seconds above the rate.
    ///
    /// It detects a flood also on a slow machine, where the daemon reads few frames per second. Use
    /// it only for frames that the worker's runtime already limits.
    static var countsOn: Bool { get }
}

/// Limits log lines and progress.
///
/// The runtime's own limits are far lower: 1000 lines a second, and 20 progress steps a second for each run.
package enum ReportRateLimits: RateLimits {
    @inlinable package static var perSecond: Int { 8000 }
    @inlinable package static var droppedMax: Int { 100_000 }
    @inlinable package static var countsOn: Bool { true }
}

/// Limits calls, of about 50 us processor time each, to a quarter of a processor.
package enum CallRateLimits: RateLimits {
    @inlinable package static var perSecond: Int { 5000 }
    @inlinable package static var droppedMax: Int { 50_000 }
    @inlinable package static var countsOn: Bool { false }
}

/// Counts frames in each second of the monotonic clock.
package struct RateLimiter<Limits: RateLimits> {
    /// How a frame is handled.
    package enum Verdict {
        case taken
        case dropped
        case flood
    }

    @inlinable package static var perSecond: Int { Limits.perSecond }
    @inlinable package static var droppedMax: Int { Limits.droppedMax }

    @usableFromInline var second: UInt64 = 0
    @usableFromInline var count = 0
    /// Frames dropped in this second, or in the consecutive seconds above the rate.
    @usableFromInline var excess = 0
    @usableFromInline var unreported = 0

    /// Dropped frames that were not yet reported.
    @inlinable package var dropped: Int { unreported }

    @inlinable
    package init() {}

    /// Counts the next frame and returns how to handle it.
    @inlinable
    package mutating func record(now: MonotonicInstant) -> Verdict {
        let current = now.nanoseconds / 1_000_000_000
        if current != second {
            let isInARow = current == second + 1 && count > Self.perSecond
            if !Limits.countsOn || !isInARow { excess = 0 }
            second = current
            count = 0
        }
        count += 1
        guard count > Self.perSecond else { return .taken }
        unreported += 1
        excess += 1
        return excess > Self.droppedMax ? .flood : .dropped
    }

    /// Returns and resets the number of dropped frames.
    @inlinable
    package mutating func resetDropped() -> Int {
        defer { unreported = 0 }
        return unreported
    }
}

extension RateLimiter where Limits == CallRateLimits {
    /// The steps of work that count as one more call: each takes up to 30 ns.
    package static var stepsPerCall: Int { 1024 }

    /// Counts the work for a call, so that a plugin cannot make the thread that enforces limits work without end with
    /// calls that take long each.
    package mutating func charge(steps: Int) { count += steps / Self.stepsPerCall }
}
