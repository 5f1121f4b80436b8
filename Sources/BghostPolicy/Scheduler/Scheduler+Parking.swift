// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// Requests for tasks that are no longer in the manifest.
///
/// They are kept for a week: an operator may remove a task from the manifest by mistake, and
/// restore it.
extension Scheduler {
    /// Parks a request that an earlier scheduler has stored; `start` reports the number of such requests.
    mutating func park(_ request: Request, now: Moment, _ effects: inout [SchedulerEffect]) {
        if let memory = parking.add(request, now: now.unix) {
            effects.append(.commit([.remembered(memory)]))
        }
    }

    /// Parks requests and reports them.
    mutating func park(_ requests: [Request], now: Moment, _ effects: inout [SchedulerEffect]) {
        for request in requests { park(request, now: now, &effects) }
        logParked(requests, &effects)
    }

    /// Reports parked requests in one line: a family may have a million of them.
    func logParked(_ requests: [Request], _ effects: inout [SchedulerEffect]) {
        guard let end = requests.map(parking.end).min() else { return }
        var tasks: Set<String> = []
        for request in requests { tasks.insert(request.task) }
        let first = Array(tasks.sorted().prefix(SchedulerNote.parkedTasksMax))
        effects.append(
            .log(.parked(requests.count, tasks: first, of: tasks.count, until: end))
        )
    }

    /// Ends requests that have been parked for too long.
    mutating func endParked(now: Moment, _ effects: inout [SchedulerEffect]) {
        guard let end = parking.nextEnd, end <= now.unix else { return }
        let (requests, memories) = parking.removeEnded(now: now.unix)
        var changes: [StoreChange] = []
        for request in requests {
            let isMissed = request.latestBegin.map { $0 < now.unix } ?? false
            let end: RequestEnd = isMissed && !request.isManual ? .missed : .notPermitted
            changes.append(.closed(request.id, end))
            if let skipped = skippedStart(request, end, now: now) {
                changes.append(.startSkipped(skipped))
            }
            effects.append(.log(.closed(request, end)))
            effects.append(.requestClosed(request.id))
        }
        effects.append(.commit(changes + memories.map { .remembered($0) }))
    }

    /// Updates the state of tasks that are in the manifest again, and of removed tasks.
    mutating func updateParkedState(now: Moment, _ effects: inout [SchedulerEffect]) {
        var changes: [StoreChange] = []
        for entry in memories.all.keys.sorted() {
            var memory = memory(of: entry)
            guard memory.parkedSince != nil else { continue }
            memory.parkedSince = nil
            remember(memory, entry: entry, now: now)
            changes.append(.remembered(memory))
        }
        for memory in parking.remembered where !memory.schedule.isEmpty {
            // If the schedule comes back, the time of its absence must not count as missed.
            var memory = memory
            guard memory.endSchedule() else { continue }
            parking.remember(memory)
            changes.append(.remembered(memory))
        }
        if !changes.isEmpty { effects.append(.commit(changes)) }
        forgetParked(now: now, &effects)
        logParked(parking.requests, &effects)
    }
}
