// SPDX-License-Identifier: Apache-2.0

internal import BghostCore

/// Passes events to the scheduler, and its decisions to the host.
///
/// Decisions are carried out in their order, each before those that it causes. What is stored is
/// therefore in the order of the decisions, and no chain of events nests calls.
///
/// The host owns it. It holds no reference to the host. Use it on the reactor's thread only; it does
/// not block. A decision costs one element of an array that keeps its capacity.
final class Dispatcher {
    /// What is pending, running and known, for questions.
    ///
    /// Only ``decide(at:_:)`` and ``propose(at:_:)`` change it.
    private(set) var scheduler: Scheduler
    /// Decisions that are not carried out yet, and before them those of the current round.
    private var decisions: [SchedulerEffect] = []
    private var isCarryingOut = false
    private let recorder: (any DecisionRecorder)?

    /// - Parameter recorder: gets every event and decision, so that they can be replayed.
    init(_ settings: Scheduler.Settings, recorder: (any DecisionRecorder)?) {
        scheduler = Scheduler(settings)
        self.recorder = recorder
        guard let recorder else { return }
        recorder.begin(settings)
        scheduler.keepInputs()
    }

    /// Passes an event to the scheduler and queues its decisions for ``carryOut(_:)``.
    ///
    /// - Returns: the answer of the event.
    func decide<Answer, Failure>(
        at now: Moment,
        _ event: (inout Scheduler, Moment, inout [SchedulerEffect]) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        let before = decisions.count
        let answer = try event(&scheduler, now, &decisions)
        record(decisions[before...])
        return answer
    }

    /// Passes an event to the scheduler, and returns its decisions.
    ///
    /// The caller stores changes that must precede the decisions, and then passes the decisions to
    /// ``add(_:)``.
    func propose<Answer>(
        at now: Moment,
        _ event: (inout Scheduler, Moment, inout [SchedulerEffect]) -> Answer
    ) -> (answer: Answer, decisions: [SchedulerEffect]) {
        var proposed: [SchedulerEffect] = []
        let answer = event(&scheduler, now, &proposed)
        record(proposed[...])
        return (answer, proposed)
    }

    /// Queues decisions that ``propose(at:_:)`` returned.
    func add(_ proposed: [SchedulerEffect]) { decisions += proposed }

    /// Asks the scheduler on the hot path of a run.
    ///
    /// `inout` avoids copying the struct; do not change it.
    func query<Answer>(_ question: (inout Scheduler) -> Answer) -> Answer { question(&scheduler) }

    /// Carries out all queued decisions, and those that arise from them.
    ///
    /// - Parameter body: may pass further events to the scheduler; what these decide comes after all
    ///   that was decided before.
    /// - Returns: `false` if an outer call carries them out.
    func carryOut(_ body: (SchedulerEffect) -> Void) -> Bool {
        guard !isCarryingOut else { return false }
        isCarryingOut = true
        var index = 0
        while index < decisions.count {
            body(decisions[index])
            index += 1
        }
        decisions.removeAll(keepingCapacity: true)
        isCarryingOut = false
        return true
    }

    private func record(_ decisions: ArraySlice<SchedulerEffect>) {
        recorder?.add(scheduler.takeInputs(), Array(decisions))
    }
}
