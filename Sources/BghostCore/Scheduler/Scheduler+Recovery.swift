// SPDX-License-Identifier: Apache-2.0

/// Taking over what an earlier scheduler left, before `start`.
extension Scheduler {
    /// - Parameter incarnation: grows with each scheduler on one store; the upper half of each epoch.
    package mutating func begin(incarnation: UInt32, now: Moment) {
        note(.begin(incarnation: incarnation), at: now)
        epoch = UInt64(incarnation) << 32
    }

    /// Makes room for as many requests.
    package mutating func expect(requests: Int) { book.reserve(requests) }

    package mutating func takeOver(_ memory: TaskMemory, now: Moment) {
        note(.tookOverMemory(memory), at: now)
        guard let task = catalog.task(for: memory.identifier) else {
            return parking.remember(memory)
        }
        remember(memory, entry: entry(for: memory.identifier, task: task), now: now)
    }

    /// Takes over a request without a run.
    package mutating func takeOver(
        _ request: Request,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        note(.tookOverRequest(request), at: now)
        wait(request, now: now, &effects)
    }

    /// The same, if the manifest has its task.
    ///
    /// - Returns: whether it has; if not, nothing has happened.
    package mutating func takeOver(
        ifPermitted request: Request,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> Bool {
        guard let task = catalog.task(for: request.task) else { return false }
        note(.tookOverRequest(request), at: now)
        wait(request, task: task, now: now, &effects)
        return true
    }

    private mutating func wait(
        _ request: Request,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        guard let task = catalog.task(for: request.task) else {
            // `start` says how many there are.
            return park(request, now: now, &effects)
        }
        wait(request, task: task, now: now, &effects)
    }

    private mutating func wait(
        _ request: Request,
        task: Int,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        let entry = entry(for: request.task, task: task)
        if let replaced = book.accept(request, entry: entry, now: now.unix) {
            effects.append(.commit([.closed(replaced.id, .replaced)]))
        }
    }

    /// Ends a run whose scheduler is gone, and its workers with it.
    package mutating func takeOver(
        interrupted run: RunRecord,
        of request: Request,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        note(.tookOverRun(run, of: request), at: now)
        var record = run
        record.state = .ended
        record.outcome = .lost
        record.endedAt = now.unix
        record.message = "bghost ended while it was under way"
        let wasInDaemon =
            catalog.task(for: request.task).map { catalog.plugin(ofTask: $0).isInDaemon } ?? false
        let next = next(
            request,
            under: catalog.task(for: request.task),
            after: RetryPolicy.End(outcome: .lost, wasInDaemon: wasInDaemon),
            now: now
        )
        effects.append(.commitEnd([.ended(record, then: next)], record))
        if case .again(let request) = next { wait(request, now: now, &effects) }
    }

    /// Takes over what was switched off.
    ///
    /// A plugin that the manifest has no more stays off, should it come back.
    package mutating func takeOver(switchedOff name: String, reason: String, now: Moment) {
        note(.tookOverSwitch(name: name, reason: reason), at: now)
        if let plugin = catalog.currentPlugins[name] {
            gates.plugins[plugin].switchedOff = reason
        } else {
            gates.switchedOffElsewhere[name] = reason
        }
    }
}
