// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// The state machine of one run: its events and their effects.
///
/// ```
///            ready            stop(reason)              graceOver
///  starting ───────► running ─────────────► cancelling ──────────► killing
///     │ │               │                       │                     │
///     │ │ deadline      │                       │                     │
///     │ └───────────────┼───────────────────────┼──────────► killing ─┤
///     │ exited / stop   │ completed / exited    │ completed / exited  │ exited / overdue
///     └─────────────────┴───────────────────────┴─────────────────────┴──────► ended
/// ```
///
/// It is a value: the same events at the same times have the same effects.
///
/// No effect depends on the worker's cooperation.
package struct RunMachine: Equatable, Sendable {
    /// The time that a worker has to become ready, nanoseconds.
    package static let startLimit: UInt64 = 10_000_000_000
    /// How long the daemon waits for a killed worker before it ends the run without it, nanoseconds.
    static let reapLimit: UInt64 = 5_000_000_000

    /// An event of a run.
    package enum Event: Equatable, Sendable {
        /// The worker took the run, and its handler starts.
        case began
        /// The run must stop, for this reason.
        case stop(StopReason)
        /// The run exceeded a limit by so much that the daemon must kill it at once.
        case exceeded(KillReason)
        /// The handler completed the run.
        ///
        /// The status is `BG_OK` or a `BG_E_*`, at or below zero.
        case completed(status: Int32)
        /// The worker could not call the handler.
        case refused
        /// The worker's process has ended.
        case exited(ProcessEnd)
        /// The worker was lost for its own reason or because of another of its runs.
        case workerLost
        /// The deadline that the machine requested has come.
        case deadline
        /// The daemon stops now and does not wait for runs.
        case forceStop
        /// The run's deadline moves by this many nanoseconds.
        case paused(UInt64)
    }

    /// An action for the host, which executes actions in order.
    package enum Effect: Equatable, Sendable {
        /// Send a `deadline` event at this time; it replaces the previous one.
        case arm(MonotonicInstant)
        /// Cancel the run: notify the handler of the reason and the remaining time, nanoseconds.
        case cancel(StopReason, remaining: UInt64)
        /// Kill the worker with its whole process tree.
        ///
        /// For a run in the daemon's process, abandon the run.
        case kill(KillReason)
        /// Record the outcome and free the run's slot.
        case end(Outcome)
    }

    package private(set) var state: RunState = .starting
    package private(set) var stopReason: StopReason?
    package private(set) var killReason: KillReason?
    package let runtime: UInt64
    package let grace: UInt64
    /// Whether the daemon can kill the run; it cannot kill a run in its own process.
    package let isKillable: Bool
    /// The time at which the handler started.
    package private(set) var beganAt: MonotonicInstant?
    /// The time of the cancellation, moved by every pause since then.
    private(set) var cancelledAt: MonotonicInstant?
    /// Whether the handler reported a permanent failure: `BG_E_FINAL`.
    package private(set) var isFinal = false
    /// The time of the next cancellation or kill.
    private var due: MonotonicInstant = .zero

    /// - Parameters:
    ///   - limits: the time from `began` to the cancellation, and from there to the kill.
    ///   - isKillable: whether the daemon can kill the run; `false` for a run in the daemon's process.
    package init(limits: RunLimits, isKillable: Bool) {
        runtime = limits.runtime.clampedNanoseconds
        grace = limits.grace.clampedNanoseconds
        self.isKillable = isKillable
    }

    /// Starts the run that the daemon has just given to a worker.
    ///
    /// - Parameter startLimit: the time that the worker has to start the handler, nanoseconds.
    package mutating func begin(
        now: MonotonicInstant,
        startLimit: UInt64 = Self.startLimit,
        _ effects: inout [Effect]
    ) {
        due = now + startLimit
        effects.append(.arm(due))
    }

    /// Handles one event.
    ///
    /// Events after the end have no effect: the first outcome counts.
    package mutating func handle(_ event: Event, now: MonotonicInstant, _ effects: inout [Effect]) {
        switch (state, event) {
        case (.ended, _): break

        case (.starting, .began):
            state = .running
            beganAt = now
            due = now + runtime
            effects.append(.arm(due))
        case (.starting, .stop(let reason)):
            // Its handler was not called, so there is nothing to cancel and no grace to wait for.
            stopReason = reason
            end(.cancelledClean, &effects)
        case (.starting, .deadline):
            kill(.startTimeout, now: now, &effects)

        case (.running, .stop(let reason)): cancel(reason, now: now, &effects)
        case (.running, .deadline): cancel(.expired, now: now, &effects)
        case (.cancelling, .deadline): kill(.graceExceeded, now: now, &effects)
        case (.cancelling, .forceStop):
            // The run did not have its full grace, so its end must not count against it.
            if stopReason != .user { stopReason = .drain }
            kill(.graceExceeded, now: now, &effects)
        case (_, .forceStop): break
        case (.killing, .deadline):
            // The process was not reaped: it hangs in a system call. Release the slot; the daemon never uses
            // the worker again.
            end(killReason.map(Outcome.killed) ?? .lost, &effects)

        case (.starting, .paused(let more)), (.running, .paused(let more)),
            (.cancelling, .paused(let more)):
            due = due + more
            cancelledAt = cancelledAt.map { $0 + more }
            effects.append(.arm(due))
        case (_, .paused): break

        case (.killing, .completed), (.killing, .refused), (.killing, .stop), (.killing, .exceeded):
            // The slot is released only after the worker has ended.
            break
        case (_, .exceeded(let reason)): kill(reason, now: now, &effects)
        case (_, .completed(let status)):
            isFinal = status == Self.finalStatus
            end(outcome(of: status), &effects)
        case (_, .refused): end(.failed, &effects)
        case (.killing, .exited), (.killing, .workerLost):
            end(killReason.map(Outcome.killed) ?? .lost, &effects)
        case (_, .exited(let how)): end(.crashed(how), &effects)
        case (_, .workerLost): end(.lost, &effects)
        case (_, .began), (.cancelling, .stop): break
        }
    }

    /// The time since the cancellation, nanoseconds; `nil` if the run was not cancelled.
    package func stoppingFor(now: MonotonicInstant) -> UInt64? {
        cancelledAt.map { now.since($0) }
    }

    private mutating func cancel(
        _ reason: StopReason,
        now: MonotonicInstant,
        _ effects: inout [Effect]
    ) {
        state = .cancelling
        stopReason = reason
        cancelledAt = now
        due = now + grace
        effects.append(.arm(due))
        effects.append(.cancel(reason, remaining: grace))
    }

    private mutating func kill(
        _ reason: KillReason,
        now: MonotonicInstant,
        _ effects: inout [Effect]
    ) {
        killReason = reason
        guard isKillable else {
            effects.append(.kill(reason))
            end(.abandoned, &effects)
            return
        }
        state = .killing
        effects.append(.arm(now + Self.reapLimit))
        effects.append(.kill(reason))
    }

    private mutating func end(_ outcome: Outcome, _ effects: inout [Effect]) {
        state = .ended
        effects.append(.end(outcome))
    }

    private static let finalStatus: Int32 = -4

    private func outcome(of status: Int32) -> Outcome {
        switch status {
        case 0: .succeeded
        // A handler that reports "cancelled" without a cancellation has failed.
        case -3 where stopReason != nil: .cancelledClean
        default: .failed
        }
    }
}
