// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// Throttling: a task whose runs overran starts later.
extension Scheduler {
    /// Adds the end of a run to the throttle points of its task, and delays the task's next runs
    /// accordingly.
    ///
    /// - Returns: the state to store, if it changed.
    mutating func updateThrottle(
        _ run: RunningTable.Running,
        _ finish: RunFinish,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> TaskMemory? {
        let policy = catalog.tasks[run.task].throttle
        guard let event = policy.event(of: finish) else { return nil }
        let points = (memories[run.entry] ?? parkedMemory(of: run.entry))?.throttle.points ?? 0
        if event == .succeeded, points == 0 { return nil }
        var memory = memory(of: run.entry)
        memory.throttle.apply(event, now: now.unix)
        remember(memory, entry: run.entry, now: now)
        if case .late(let late) = event {
            effects.append(
                .log(
                    .throttled(
                        task: memory.identifier,
                        late,
                        limit: policy.stopLimit(finish.record.limits),
                        points: memory.throttle.points(now: now.unix),
                        until: policy.nextStart(memory.throttle, now: now.unix),
                        isDryRun: policy.mode == .dryRun
                    )
                )
            )
        }
        return memory
    }

    /// The state of an entry.
    func memory(of entry: Int) -> TaskMemory {
        memories[entry] ?? parkedMemory(of: entry)
            ?? TaskMemory(identifier: pendingIndex.entries[entry].identifier)
    }

    /// The state of an entry whose task was removed while one of its runs was in progress.
    private func parkedMemory(of entry: Int) -> TaskMemory? {
        isPermitted(entry) ? nil : parking.known(pendingIndex.entries[entry].identifier)
    }

    /// Whether the task of an entry is in the manifest.
    func isPermitted(_ entry: Int) -> Bool {
        catalog.permits(task: pendingIndex.entries.kind(entry).definition)
    }

    /// Updates the state of an entry in memory; the caller stores it.
    mutating func remember(_ memory: TaskMemory, entry: Int, now: Moment) {
        guard isPermitted(entry) else { return parking.remember(memory) }
        memories[entry] = memory.isEmpty ? nil : memory
        delayThrottled(entry, memory, now: now)
        if memory.isEmpty {
            pendingIndex.noteIfIdle(entry)
        } else {
            keepIfIdle(entry, now: now)
        }
    }

    /// Holds an entry as long as it is throttled.
    mutating func delayThrottled(_ entry: Int, _ memory: TaskMemory, now: Moment) {
        let policy = catalog.tasks[pendingIndex.entries.kind(entry).definition].throttle
        let until =
            policy.mode == .on ? policy.nextStart(memory.throttle, now: now.unix) : nil
        pendingIndex.delay(entry: entry, until: until, now: now.unix)
    }

    /// The rows of the identifiers with throttle points, in no order; the points of some may have expired.
    package var throttledRows: [Int] { Array(memories.throttled) }

    /// The states of such rows, without those that have no points any more.
    package func throttled(_ rows: ArraySlice<Int>) -> [TaskMemory] {
        rows.compactMap { memories.throttled.contains($0) ? memories[$0] : nil }
    }

    /// The state of a task; none if it has none.
    package func memories(of identifier: String) -> [TaskMemory] {
        pendingIndex.entry(of: identifier).flatMap { memories[$0] }.map { [$0] } ?? []
    }

    /// The throttle policy of a task; the default if it is not in the manifest.
    package func throttlePolicy(of identifier: String) -> ThrottlePolicy {
        catalog.task(for: identifier).map { catalog.tasks[$0].throttle } ?? ThrottlePolicy()
    }

    /// Clears the throttle points of a task.
    ///
    /// - Returns: the change to store; `nil` if the task has no points.
    package mutating func clearThrottle(
        _ identifier: String,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> StoreChange? {
        recordInput(.clearThrottle(identifier), at: now)
        guard let entry = pendingIndex.entry(of: identifier), var memory = memories[entry] else {
            return nil
        }
        let points = memory.throttle.points(now: now.unix)
        guard points > 0 else { return nil }
        memory.throttle.clear(now: now.unix)
        remember(memory, entry: entry, now: now)
        effects.append(.log(.throttleCleared(task: identifier, points: points)))
        startReadyRequests(now: now, &effects)
        return .remembered(memory)
    }
}
