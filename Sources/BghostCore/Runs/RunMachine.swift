// SPDX-License-Identifier: Apache-2.0

/// The life of one run: what may happen to it, and what follows.
///
/// ```
///            ready            stop(reason)              graceOver
///  starting ───────► running ─────────────► cancelling ──────────► killing
///     │ │               │                       │                     │
///     │ │ stop: killed before it began          │                     │
///     │ └───────────────┼───────────────────────┼──────────► killing ─┤
///     │ exited          │ completed / exited    │ completed / exited  │ exited / overdue
///     └─────────────────┴───────────────────────┴─────────────────────┴──────► ended
/// ```
///
/// It is a value: the same events at the same moments give the same effects. Times are monotonic
/// nanoseconds. No effect needs the worker's cooperation to take hold.
package struct RunMachine: Equatable, Sendable {
    /// How long a worker may take to become ready.
    package static let startLimit: UInt64 = 10_000_000_000
    /// How long a killed worker is waited for before its run is ended without it.
    package static let reapLimit: UInt64 = 5_000_000_000

    /// What happens to a run.
    package enum Event: Equatable, Sendable {
        /// The worker took the run; its handler begins.
        case began
        /// Somebody or something wants it to stop.
        case stop(StopReason)
        /// A limit is passed that leaves no time for cooperation.
        case exceeded(KillReason)
        /// The handler ended it. At or below zero, a `BG_OK` or `BG_E_*`.
        case completed(status: Int32)
        /// The host could not have the handler called.
        case refused
        /// The worker's process is gone.
        case exited(ProcessEnd)
        /// The worker goes away for a reason of its own or of another run in it.
        case workerLost
        /// The deadline that the machine had asked for has come.
        case deadline
        /// The daemon ends, and waits for nobody any more.
        case hurry
        /// Its time stands still for so many nanoseconds more.
        case paused(UInt64)
    }

    /// What the host must do, in this order.
    package enum Effect: Equatable, Sendable {
        /// Ask for a `deadline` event at this moment. It replaces the one before.
        case arm(UInt64)
        /// Tell the handler that it is expiring, why, and how long it has.
        case cancel(StopReason, remaining: UInt64)
        /// Kill the worker with all that it started. For a run in the daemon: let go of it.
        case kill(KillReason)
        /// Record the outcome and free the run's slot.
        case end(Outcome)
    }

    package private(set) var state: RunState = .starting
    package private(set) var stopReason: StopReason?
    package private(set) var killReason: KillReason?
    package let runtime: UInt64
    package let grace: UInt64
    /// Whether it can be killed: not so inside the daemon.
    package let isKillable: Bool
    /// When the handler began.
    package private(set) var beganAt: UInt64?
    /// When it is told to stop or, then, killed.
    private var due: UInt64 = 0

    /// - Parameters:
    ///   - runtime: from `began` until it is told to stop.
    ///   - grace: from there until it is killed.
    package init(limits: RunLimits, isKillable: Bool) {
        runtime = limits.runtime.clampedNanoseconds
        grace = limits.grace.clampedNanoseconds
        self.isKillable = isKillable
    }

    /// The effects of a run that has just been handed to a worker.
    ///
    /// - Parameter startLimit: how long it may take until it begins.
    package func begin(
        now: UInt64,
        startLimit: UInt64 = Self.startLimit,
        _ effects: inout [Effect]
    ) {
        effects.append(.arm(now &+ startLimit))
    }

    /// Takes one event.
    ///
    /// Events that come too late change nothing: the first end counts.
    package mutating func handle(_ event: Event, now: UInt64, _ effects: inout [Effect]) {
        switch (state, event) {
        case (.ended, _): break

        case (.starting, .began):
            state = .running
            beganAt = now
            due = now &+ runtime
            effects.append(.arm(due))
        case (.starting, .stop(let reason)):
            // The worker may be stuck in a constructor; nothing in it can be asked.
            stopReason = reason
            if isKillable {
                kill(.graceExceeded, now: now, &effects)
            } else {
                end(.cancelledClean, &effects)
            }
        case (.starting, .deadline):
            kill(.startTimeout, now: now, &effects)

        case (.running, .stop(let reason)): cancel(reason, now: now, &effects)
        case (.running, .deadline): cancel(.expired, now: now, &effects)
        case (.cancelling, .deadline): kill(.graceExceeded, now: now, &effects)
        case (.cancelling, .hurry):
            // It was not left the rest of its grace, so its end says nothing of it.
            if stopReason != .user { stopReason = .drain }
            kill(.graceExceeded, now: now, &effects)
        case (_, .hurry): break
        case (.killing, .deadline):
            // Not reaped: in a system call that does not return. Its slot is given back, its worker
            // is never used again.
            end(killReason.map(Outcome.killed) ?? .lost, &effects)

        case (.running, .paused(let more)), (.cancelling, .paused(let more)):
            due = due &+ more
            effects.append(.arm(due))
        case (_, .paused): break

        case (.killing, .completed), (.killing, .refused), (.killing, .stop), (.killing, .exceeded):
            // Its slot is free only once the worker is gone.
            break
        case (_, .exceeded(let reason)): kill(reason, now: now, &effects)
        case (_, .completed(let status)): end(outcome(of: status), &effects)
        case (_, .refused): end(.failed, &effects)
        case (.killing, .exited), (.killing, .workerLost):
            end(killReason.map(Outcome.killed) ?? .lost, &effects)
        case (_, .exited(let how)): end(.crashed(how), &effects)
        case (_, .workerLost): end(.lost, &effects)
        case (_, .began), (.cancelling, .stop): break
        }
    }

    private mutating func cancel(_ reason: StopReason, now: UInt64, _ effects: inout [Effect]) {
        state = .cancelling
        stopReason = reason
        due = now &+ grace
        effects.append(.arm(due))
        effects.append(.cancel(reason, remaining: grace))
    }

    private mutating func kill(_ reason: KillReason, now: UInt64, _ effects: inout [Effect]) {
        killReason = reason
        guard isKillable else {
            effects.append(.kill(reason))
            end(.abandoned, &effects)
            return
        }
        state = .killing
        effects.append(.arm(now &+ Self.reapLimit))
        effects.append(.kill(reason))
    }

    private mutating func end(_ outcome: Outcome, _ effects: inout [Effect]) {
        state = .ended
        effects.append(.end(outcome))
    }

    private func outcome(of status: Int32) -> Outcome {
        switch status {
        case 0: .succeeded
        // A handler that says "cancelled" though nobody asked has failed.
        case -3 where stopReason != nil: .cancelledClean
        default: .failed
        }
    }
}

extension Duration {
    /// Whole nanoseconds, at least 0 and at most about 292 years.
    package var clampedNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < 9_000_000_000 else { return UInt64(Int64.max) }
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds) / 1_000_000_000
    }

    /// A duration of this many nanoseconds.
    package init(nanoseconds: UInt64) {
        self = .nanoseconds(Int64(clamping: nanoseconds))
    }
}
