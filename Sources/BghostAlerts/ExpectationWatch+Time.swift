// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostModel

/// What is compared when its date comes.
extension ExpectationWatch {
    /// The number of dates that are kept, also of those that are no longer needed.
    var dateCount: Int { heap.size }

    /// The next date, Unix nanoseconds, which may be one that is no longer needed; `nil` if there is none.
    package var nextDate: Int64? { heap.next.map { Int64(clamping: $0) } }

    /// Compares what is due.
    ///
    /// - Parameter waiting: what waits of an identifier.
    package mutating func advance(
        now: Moment,
        _ waiting: (_ identifier: String) -> Waiting
    ) -> [Finding] {
        var findings: [Finding] = []
        while let number = heap.popDue(
            now: UInt64(max(0, now.unix)),
            isLive: { [dates] token, _ in dates[token] != nil }
        ) {
            guard let date = dates.removeValue(forKey: number) else { continue }
            switch date {
            case .success(let task): findings += compareSuccess(task, number, now: now.unix)
            case .run(let run): findings += compareRun(run, number, now: now)
            case .start(let task, let identifier):
                guard let waiter = subjects[task]?.waiting[identifier], waiter.number == number
                else { continue }
                findings += compareStart(
                    waiter,
                    identifier,
                    of: task,
                    waiting(identifier),
                    now: now.unix
                )
            }
        }
        return findings
    }

    mutating func compareSuccess(_ task: String, _ number: UInt64, now: Int64) -> [Finding] {
        guard let due = subjects[task]?.successDue else { return [] }
        subjects[task]?.successDue = nil
        guard let subject = subjects[task], let every = subject.expectation.every else { return [] }
        let date = successDate(subject, every)
        guard date <= now, due <= now else {
            armSuccess(task)
            return []
        }
        let detail =
            subject.progress.lastSuccess.map {
                "no run succeeded since \(Timestamp.text(unixNanoseconds: $0))"
            } ?? "no run succeeded since bghost watches it"
        return [.raise(AlertKey(.noSuccess, task), detail)]
    }

    func successDate(_ subject: Subject, _ every: Duration) -> Int64 {
        (subject.progress.lastSuccess ?? subject.progress.since)
            .addingClamped(Self.nanoseconds(every))
            .addingClamped(subject.slack == .max ? 0 : subject.slack)
    }

    /// Arms the date at which a task's time without success is compared, unless an earlier one is armed.
    mutating func armSuccess(_ task: String) {
        guard let subject = subjects[task], let every = subject.expectation.every else { return }
        let date = successDate(subject, every)
        guard date < subject.successDue ?? .max else { return }
        subjects[task]?.successDue = date
        // Nothing disarms the date: when it comes, it is compared with `successDue`.
        _ = arm(.success(task: task), at: date)
    }

    mutating func compareRun(_ id: RunID, _ number: UInt64, now: Moment) -> [Finding] {
        guard let run = runs[id], run.number == number,
            let runtime = subjects[run.task]?.expectation.runtime
        else { return [] }
        let lasted = Int64(clamping: now.monotonic.since(run.startedAt))
        let left = Self.nanoseconds(runtime).subtractingClamped(lasted)
        guard left <= 0 else {
            // The wall clock is faster, or a reload permits more.
            let date = arm(.run(id), at: now.unix.addingClamped(left))
            runs[id]?.number = date
            return noLongerLong(id, of: run.task)
        }
        subjects[run.task]?.longRuns.insert(id)
        return [
            .raise(
                AlertKey(.longRun, run.task),
                "run \(id) takes longer than \(DurationText.of(runtime))"
            )
        ]
    }

    mutating func compareStart(
        _ waiter: Waiter,
        _ identifier: String,
        of task: String,
        _ waiting: Waiting,
        now: Int64
    ) -> [Finding] {
        guard let start = subjects[task]?.expectation.start.map(Self.nanoseconds) else { return [] }
        let nextLook = now.addingClamped(max(start, Self.lookMin))
        switch waiting {
        case .nothing:
            subjects[task]?.waiting[identifier] = nil
            return noLongerLate(identifier, of: task)
        case .asAsked:
            watch(waiter, identifier, of: task, at: nextLook)
            return noLongerLate(identifier, of: task)
        case .since(let due):
            var waiter = waiter.due == due ? waiter : Waiter(due: due)
            // It could start, so its date is one of a clock that was ahead.
            if waiter.since > now { waiter.shift = now.subtractingClamped(due) }
            let date = waiter.since.addingClamped(start)
            guard date <= now else {
                watch(waiter, identifier, of: task, at: date)
                return noLongerLate(identifier, of: task)
            }
            // Its start ends the alert at once; that it was withdrawn is seen at the next look.
            watch(waiter, identifier, of: task, at: nextLook)
            subjects[task]?.late.insert(identifier)
            let name = identifier == task ? "" : "\(identifier) "
            return [
                .raise(
                    AlertKey(.lateStart, task),
                    "\(name)was due at \(Timestamp.text(unixNanoseconds: waiter.since)) and has not"
                        + " started; `bghost why \(identifier)` says why"
                )
            ]
        }
    }
}
