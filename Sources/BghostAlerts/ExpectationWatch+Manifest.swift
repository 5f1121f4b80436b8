// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel

/// What is watched: the tasks of a manifest, and what an earlier daemon knew of them.
extension ExpectationWatch {
    /// Takes over what an earlier daemon stored; call it before ``define(_:now:)``.
    ///
    /// - Parameter overdue: the tasks that had no success in time, as the earlier daemon told.
    package mutating func recover(
        _ rows: [TaskProgress],
        overdue: Set<String> = [],
        now: Int64
    ) {
        for row in rows {
            var progress = row
            progress.since = min(row.since, now)
            progress.lastSuccess = row.lastSuccess.map { min($0, now) }
            var subject = Subject(
                name: row.task,
                expectation: TaskExpectation(),
                progress: progress
            )
            subject.storedSuccess = progress.lastSuccess
            // Later successes may not be stored, but one of an overdue task would have ended its alert.
            subject.slack = overdue.contains(row.task) ? 0 : .max
            subjects[row.task] = subject
        }
    }

    /// Watches the tasks of a manifest from now on.
    package mutating func define(
        _ tasks: [(name: String, expectation: TaskExpectation)],
        now: Int64
    ) -> [Finding] {
        let wanted = tasks.filter { !$0.expectation.isEmpty }
        let names = Set(wanted.map(\.name))
        var findings: [Finding] = []
        for name in subjects.keys.sorted() where !names.contains(name) {
            findings += forget(name)
        }
        for (name, expectation) in wanted {
            let old = subjects[name]
            var subject =
                old
                ?? Subject(
                    name: name,
                    expectation: expectation,
                    progress: TaskProgress(task: name, since: now)
                )
            subject.expectation = expectation
            if old == nil { changes.append(.progress(subject.progress)) }
            if let every = expectation.every, subject.slack == .max {
                subject.slack = TaskProgress.slack(every: Self.nanoseconds(every))
            }
            subjects[name] = subject
            findings += compare(name, with: old?.expectation, now: now)
        }
        return findings
    }

    /// Forgets the waiting requests of tasks to which their identifiers no longer belong.
    ///
    /// The cost is O(n) in the requests that are watched.
    package mutating func forgetWaiting(
        where isGone: (_ identifier: String, _ task: String) -> Bool
    ) -> [Finding] {
        var findings: [Finding] = []
        for name in subjects.keys.sorted() {
            for (identifier, waiter) in subjects[name]?.waiting ?? [:]
            where isGone(identifier, name) {
                disarm(waiter.number)
                subjects[name]?.waiting[identifier] = nil
                findings += noLongerLate(identifier, of: name)
            }
        }
        return findings
    }

    /// Compares a task with what is expected of it now.
    private mutating func compare(
        _ name: String,
        with old: TaskExpectation?,
        now: Int64
    ) -> [Finding] {
        guard let subject = subjects[name] else { return [] }
        let expectation = subject.expectation
        var findings = compareFailures(name)
        if expectation.every.map({ successDate(subject, $0) }) ?? .max > now {
            findings.append(.clear(AlertKey(.noSuccess, name)))
        }
        armSuccess(name)
        if expectation.start != old?.start { findings += compareWaiting(name, now: now) }
        if expectation.runtime != old?.runtime { findings += compareRuns(name, now: now) }
        return findings
    }

    /// Compares the waiting requests of a task at the next look, since they may start later or earlier now.
    private mutating func compareWaiting(_ name: String, now: Int64) -> [Finding] {
        guard let subject = subjects[name], subject.expectation.start != nil else {
            return endWaiting(name)
        }
        for (identifier, waiter) in subject.waiting.sorted(by: { $0.key < $1.key }) {
            disarm(waiter.number)
            watch(waiter, identifier, of: name, at: now)
        }
        return []
    }

    /// Compares the runs of a task at the next look, since they may take longer or less long now.
    private mutating func compareRuns(_ name: String, now: Int64) -> [Finding] {
        let isLimited = subjects[name]?.expectation.runtime != nil
        for (id, run) in runs.filter({ $0.value.task == name }).sorted(by: { $0.key < $1.key }) {
            disarm(run.number)
            let number = isLimited ? arm(.run(id), at: now) : 0
            runs[id]?.number = number
        }
        guard !isLimited else { return [] }
        subjects[name]?.longRuns = []
        return [.clear(AlertKey(.longRun, name))]
    }

    private mutating func forget(_ name: String) -> [Finding] {
        var findings = endWaiting(name) + endRuns(name)
        findings += [.noSuccess, .failures].map { .clear(AlertKey($0, name)) }
        subjects[name] = nil
        changes.append(.unwatched(task: name))
        return findings
    }

    private mutating func endWaiting(_ name: String) -> [Finding] {
        for number in subjects[name]?.waiting.values.map(\.number).sorted() ?? [] { disarm(number) }
        subjects[name]?.waiting = [:]
        subjects[name]?.late = []
        return [.clear(AlertKey(.lateStart, name))]
    }

    private mutating func endRuns(_ name: String) -> [Finding] {
        for (id, run) in runs where run.task == name {
            runs[id] = nil
            disarm(run.number)
        }
        subjects[name]?.longRuns = []
        return [.clear(AlertKey(.longRun, name))]
    }
}
