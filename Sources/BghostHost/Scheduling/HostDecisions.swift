// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostStore

/// Passes events to the scheduler and carries out its decisions.
extension Host {
    /// The current instant on all clocks.
    var moment: Moment { clock.moment }

    /// Passes an event to the scheduler and carries out the resulting decisions.
    ///
    /// Decisions that arise during this are appended to the same loop, without recursion.
    /// Transactions therefore reach the store in the order of the decisions.
    @discardableResult
    func decide<Answer, Failure>(
        _ event: (inout Scheduler, Moment, inout [SchedulerEffect]) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        let answer = try dispatcher.decide(at: moment, event)
        carryOutDecisions()
        return answer
    }

    /// Carries out decisions that the dispatcher proposed.
    func carryOut(_ effects: [SchedulerEffect]) {
        dispatcher.add(effects)
        carryOutDecisions()
    }

    /// Starts all runs that can start.
    func dispatch() {
        decide { scheduler, now, effects in scheduler.dispatch(now: now, &effects) }
    }

    private func carryOutDecisions() {
        guard dispatcher.carryOut({ carryOut($0) }) else { return }
        advanceNotifications()
        armDates()
    }

    private func carryOut(_ effect: SchedulerEffect) {
        switch effect {
        case .commit(let changes): commit(changes)
        case .commitEnd(let changes, let record):
            // Most runs deliver no notification, so avoid copying the list.
            let delivery = deliveryEnded(record, changes)
            let (record, changes) = withDetails(record, changes)
            let all = delivery.isEmpty ? changes : changes + delivery
            commit(all, isAwaited: waiters.isAwaited(record.request)) { host, result in
                // If the outcome cannot be stored, the next daemon records another one, so do not
                // report this one.
                let isKept = if case .success = result { true } else { false }
                host.waiters.finish(record.request, with: isKept ? record : nil)
            }
            report(record)
        case .begin(let start): begin(start)
        case .stop(let ticket, let reason, let why):
            let run = runOfTicket[ticket]
            guard let index = runs.index(of: run) else { return }
            if reason == .condition { runs[index]?.record.message = why }
            handle(.stop(reason), of: run)
        // File events normally report changes; this check covers missed events.
        case .inspect(let plugin): scheduleLook(at: plugins[plugin])
        case .ended(let request):
            deliveryGone(request)
            waiters.finish(request, with: nil)
        case .note(let note):
            let task = note.task.isEmpty ? nil : note.task
            log.write(note.level, note.code, note.message, task: task)
        }
    }

    /// Adds the crash report and the output to the stored end of a run; the scheduler does not use them.
    private func withDetails(
        _ record: RunRecord,
        _ changes: [StoreChange]
    ) -> (RunRecord, [StoreChange]) {
        guard !detailsOfEnded.isEmpty,
            let details = detailsOfEnded.removeValue(forKey: record.id)
        else { return (record, changes) }
        var record = record
        record.details = details
        let all = changes.map { change in
            guard case .ended(var ended, let next) = change, ended.id == record.id else {
                return change
            }
            ended.details = details
            return StoreChange.ended(ended, then: next)
        }
        return (record, all)
    }
}
