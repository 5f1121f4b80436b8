// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostModel
package import BghostPolicy

/// Passes events to the scheduler, and carries out its decisions.
///
/// The dispatcher executes decisions in order, each before those that it causes. What is stored is
/// therefore in the order of the decisions, and no chain of events nests calls.
///
/// The host owns it. It holds no reference to the host. Use it on the reactor's thread only; it does
/// not block. A decision costs one element of an array that keeps its capacity. What is generic is
/// inlinable, because each event of the host passes through it.
package final class Dispatcher {
    /// What is pending, running and known, for questions.
    ///
    /// Only ``decide(_:)`` and ``propose(_:)`` change it.
    @usableFromInline package internal(set) var scheduler: Scheduler
    /// Decisions that are not executed yet, and before them those of the current round.
    @usableFromInline var decisions: [SchedulerEffect] = []
    private var isCarryingOut = false
    @usableFromInline package let moment: () -> Moment
    private let recorder: (any DecisionRecorder)?
    private var handler: (SchedulerEffect) -> Void = { _ in }
    private var onRoundEnd: () -> Void = {}

    /// - Parameters:
    ///   - moment: the current instant on all clocks.
    ///   - recorder: gets every event and decision, so that they can be replayed.
    package init(
        _ settings: Scheduler.Settings,
        moment: @escaping () -> Moment,
        recorder: (any DecisionRecorder)?
    ) {
        scheduler = Scheduler(settings)
        self.moment = moment
        self.recorder = recorder
        guard let recorder else { return }
        recorder.begin(settings)
        scheduler.keepInputs()
    }

    /// Sets what carries out decisions; without it, they have no effect.
    ///
    /// - Parameters:
    ///   - execute: executes one decision. It may pass further events to the scheduler; what these
    ///     decide comes after all that was decided before.
    ///   - onRoundEnd: called when all decisions are executed. It may cause a further round.
    package func begin(
        execute: @escaping (SchedulerEffect) -> Void,
        onRoundEnd: @escaping () -> Void
    ) {
        handler = execute
        self.onRoundEnd = onRoundEnd
    }

    /// Passes an event to the scheduler, and carries out the resulting decisions.
    ///
    /// During a round, they are executed at its end instead of before this returns.
    ///
    /// - Returns: the answer of the event.
    @inlinable
    @discardableResult
    package func decide<Answer, Failure>(
        _ event: (inout Scheduler, Moment, inout [SchedulerEffect]) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        let before = decisions.count
        let answer = try event(&scheduler, moment(), &decisions)
        record(decisions[before...])
        executeAll()
        return answer
    }

    /// Passes an event to the scheduler, and returns its decisions.
    ///
    /// The caller stores changes that must precede the decisions, and then passes the decisions to
    /// ``execute(_:)``.
    @inlinable
    package func propose<Answer>(
        _ event: (inout Scheduler, Moment, inout [SchedulerEffect]) -> Answer
    ) -> (answer: Answer, decisions: [SchedulerEffect]) {
        var proposed: [SchedulerEffect] = []
        let answer = event(&scheduler, moment(), &proposed)
        record(proposed[...])
        return (answer, proposed)
    }

    /// Carries out decisions that ``propose(_:)`` returned.
    package func execute(_ proposed: [SchedulerEffect]) {
        decisions += proposed
        executeAll()
    }

    /// Takes the restored requests that belong in the fleet.
    func takeLeftovers() -> [Request] { scheduler.takeLeftovers() }

    /// Starts all runs that can start.
    package func dispatch() {
        decide { scheduler, now, effects in scheduler.dispatch(now: now, &effects) }
    }

    /// Asks the scheduler on the hot path of a run.
    ///
    /// `inout` avoids copying the struct; do not change it.
    @inlinable
    package func query<Answer>(_ question: (inout Scheduler) -> Answer) -> Answer {
        question(&scheduler)
    }

    /// Carries out all queued decisions, and those that arise from them, unless an outer call does.
    @usableFromInline func executeAll() {
        guard !isCarryingOut else { return }
        isCarryingOut = true
        var index = 0
        while index < decisions.count {
            handler(decisions[index])
            index += 1
        }
        decisions.removeAll(keepingCapacity: true)
        isCarryingOut = false
        onRoundEnd()
    }

    @usableFromInline func record(_ decisions: ArraySlice<SchedulerEffect>) {
        recorder?.add(scheduler.takeInputs(), Array(decisions))
    }
}
