// SPDX-License-Identifier: Apache-2.0

internal import BghostDispatch
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostStore

/// Carries out the decisions of the scheduler.
extension RunSupervisor {
    /// Carries out a decision.
    func execute(_ effect: SchedulerEffect) {
        switch effect {
        case .commit(let changes): commits.commit(changes)
        case .commitEnd(let changes, let record):
            // Most runs deliver no notification, so avoid copying the list.
            let delivery = notifications.ended(record, changes)
            let (record, changes) = withDetails(record, changes)
            let all = delivery.isEmpty ? changes : changes + delivery
            commits.commit(all, isAwaited: waiters.isAwaited(record.request)) {
                [waiters] result in
                // If the outcome cannot be stored, the next daemon records another one, so do not
                // report this one.
                let isKept = if case .success = result { true } else { false }
                waiters.finish(record.request, with: isKept ? record : nil)
            }
            meter.ended(record)
            tracer.ended(record, changes)
            report(record)
        case .startRun(let start): begin(start)
        case .stop(let stopped, let reason, let why):
            guard let run = runs.run(runNumbers[stopped]) else { return }
            if reason == .condition { run.record.message = why }
            handle(.stop(reason), of: run.number)
        // File events normally report changes; this check covers missed events.
        case .inspect(let plugin): registry.scheduleCheck(at: plugins[plugin])
        case .requestClosed(let request):
            notifications.withdrawn(request)
            waiters.finish(request, with: nil)
        case .claimStart(let claim): fleet?.claim(claim)
        case .releaseStart(let claim, let release): fleet?.release(claim, release)
        case .log(let note):
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
            guard case .runEnded(var ended, let next) = change, ended.id == record.id else {
                return change
            }
            ended.details = details
            return StoreChange.runEnded(ended, then: next)
        }
        return (record, all)
    }
}
