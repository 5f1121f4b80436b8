// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
package import BghostBase
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
package import BghostServices

/// Lets runs end by themselves, within a bound, before the daemon stops.
///
/// The host owns it. Use it on the reactor's thread only; it does not block. The daemon stops when ``ended``
/// has an element.
package final class DrainCommands {
    private let dispatcher: Dispatcher
    private let deadlines: Deadlines
    private let clock: DaemonClock
    private let log: HostLog
    private let runCount: () -> Int
    /// When the runs that are left are cancelled; `never` without a bound.
    private var deadline = MonotonicInstant.never
    private var isFinishing = false
    /// The runs that had not ended by themselves.
    private var cancelled = 0
    /// The clients that wait for the end of the phase.
    private var waiters: [Int: AsyncStream<DrainStatus>.Continuation] = [:]
    private var waiterSerial = 0
    private let continuation: AsyncStream<Void>.Continuation
    /// Has one element, when no run is left or the bound has passed.
    package let ended: AsyncStream<Void>

    /// - Parameter runCount: the number of runs in progress.
    package init(
        _ dispatcher: Dispatcher,
        _ deadlines: Deadlines,
        _ clock: DaemonClock,
        log: HostLog,
        runCount: @escaping () -> Int
    ) {
        self.dispatcher = dispatcher
        self.deadlines = deadlines
        self.clock = clock
        self.log = log
        self.runCount = runCount
        (ended, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    package var status: DrainStatus {
        let isBounded = isFinishing && deadline < .never
        let rest = Int64(clamping: deadline.since(clock.monotonic))
        return DrainStatus(
            draining: dispatcher.scheduler.isDraining,
            finishing: isFinishing,
            running: runCount(),
            until: isBounded ? clock.wall.addingClamped(rest) : nil,
            cancelled: cancelled
        )
    }

    /// Starts no more runs, and stops the daemon when those in progress have ended, or at the bound.
    ///
    /// A second call can only shorten the time.
    ///
    /// - Parameter bound: the most time for the runs; `nil` for as long as they take.
    package func drain(within bound: Duration?) -> DrainStatus {
        let wasDraining = dispatcher.scheduler.isDraining
        // Its runs are cancelled already.
        guard !wasDraining || isFinishing else { return status }
        if !wasDraining {
            dispatcher.decide { scheduler, now, _ in scheduler.drain(now: now) }
        }
        isFinishing = true
        if let bound {
            let length = bound.clampedNanoseconds
            deadline = min(deadline, clock.monotonic + length)
            deadlines.arm(.drain, at: deadline)
        }
        let count = runCount()
        log.write(
            .info,
            "host.finishing",
            "no more runs start; bghost stops when \(CountText.of(count, "run")) in progress"
                + (count == 1 ? " has" : " have") + " ended"
                + (bound.map { ", or in \(DurationText.of($0))" } ?? "")
        )
        if bound == .zero { end() } else { check() }
        return status
    }

    /// Records that a run may have ended.
    package func check() {
        if isFinishing, runCount() == 0 { end() }
    }

    package func isLive(_ deadline: MonotonicInstant) -> Bool {
        isFinishing && deadline == self.deadline
    }

    package func deadlinePassed() { end() }

    /// Records that the runs that are left are cancelled: the bound has passed, or the daemon stops now.
    package func end() {
        guard isFinishing else { return }
        isFinishing = false
        cancelled = runCount()
        let last = status
        for waiter in waiters.values { waiter.yield(last) }
        waiters = [:]
        continuation.yield()
    }

    /// Returns when no run is left or the rest is cancelled; at once if no runs may end by themselves.
    package nonisolated(nonsending) func waitUntilEnd() async -> DrainStatus {
        guard isFinishing else { return status }
        waiterSerial += 1
        let number = waiterSerial
        let (ends, waiter) = AsyncStream<DrainStatus>.makeStream()
        waiters[number] = waiter
        for await end in ends { return end }
        // The client has gone.
        waiters[number] = nil
        return status
    }
}
