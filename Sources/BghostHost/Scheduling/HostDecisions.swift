// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostStore

/// The scheduler decides; the host carries out.
extension Host {
    /// Now, on both clocks.
    var moment: Moment { Moment(monotonic: reactor.now, unix: wall) }

    /// Tells the scheduler what has happened, and carries out what follows.
    ///
    /// What follows from carrying out is carried out behind the rest, in one loop and not in a
    /// recursion: so transactions reach the store in the order in which they were decided.
    @discardableResult
    func decide<Answer, Failure>(
        _ event: (inout Scheduler, Moment, inout [SchedulerEffect]) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        let before = decisions.count
        let answer = try event(&scheduler, moment, &decisions)
        record(decisions[before...])
        carryOutDecisions()
        return answer
    }

    /// Asks the scheduler something on the way of each run.
    ///
    /// It is handed over to be changed, though it is not: to be read, it would be copied.
    func asked<Answer>(_ question: (inout Scheduler) -> Answer) -> Answer { question(&scheduler) }

    /// Carries out what the scheduler has decided apart.
    func carryOut(_ effects: [SchedulerEffect]) {
        record(effects[...])
        decisions += effects
        carryOutDecisions()
    }

    private func record(_ effects: ArraySlice<SchedulerEffect>) {
        guard let recorder = configuration.recorder else { return }
        recorder.add(scheduler.takeInputs(), Array(effects))
    }

    /// Begins what can begin.
    func dispatch() {
        decide { scheduler, now, effects in scheduler.dispatch(now: now, &effects) }
    }

    private func carryOutDecisions() {
        guard !isCarryingOut else { return }
        isCarryingOut = true
        var index = 0
        while index < decisions.count {
            carryOut(decisions[index])
            index += 1
        }
        decisions.removeAll(keepingCapacity: true)
        isCarryingOut = false
        advanceNotifications()
        armDates()
    }

    private func carryOut(_ effect: SchedulerEffect) {
        switch effect {
        case .commit(let changes): commit(changes)
        case .commitEnd(let changes, let record):
            // Nearly every run is none, and a list is not copied for nothing.
            let delivery = deliveryEnded(record, changes)
            let all = delivery.isEmpty ? changes : changes + delivery
            commit(all, isAwaited: waiters[record.request] != nil) { host, _ in
                host.resumeWaiters(of: record.request, with: record)
            }
            report(record)
        case .begin(let start): begin(start)
        case .stop(let ticket, let reason, let why):
            let run = runOfTicket[ticket]
            guard let index = runs.index(of: run) else { return }
            if reason == .condition { runs[index]?.record.message = why }
            handle(.stop(reason), of: run)
        case .inspect(let plugin): lookAgain(at: plugins[plugin])
        case .ended(let request):
            deliveryGone(request)
            resumeWaiters(of: request, with: nil)
        case .note(let note):
            let task = note.task.isEmpty ? nil : note.task
            log.write(note.level, note.code, note.message, task: task)
        }
    }

    func resumeWaiters(of request: RunID, with record: RunRecord?) {
        guard !waiters.isEmpty, let continuations = waiters.removeValue(forKey: request) else {
            return
        }
        for continuation in continuations.values { continuation.resume(returning: record) }
    }
}
