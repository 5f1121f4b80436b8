// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// Restores the state of an earlier scheduler, before `start`.
extension Scheduler {
    /// - Parameter incarnation: increases with each scheduler on a store; it is the upper half of
    ///   each epoch.
    package mutating func setIncarnation(_ incarnation: UInt32, now: Moment) {
        recordInput(.begin(incarnation: incarnation), at: now)
        epoch = UInt64(incarnation) << 32
    }

    /// Reserves memory for a number of requests.
    package mutating func expect(requests: Int) { pendingIndex.reserve(requests) }

    package mutating func restore(_ memory: TaskMemory, now: Moment) {
        recordInput(.restoredTask(memory), at: now)
        var memory = memory
        memory.throttle.limit(now: now.unix)
        guard let task = catalog.task(for: memory.identifier) else {
            return parking.restore(memory)
        }
        let entry = entry(for: memory.identifier, task: task)
        // Also one that is not worth a row: `start` then deletes the row.
        memories[entry] = memory
        delayThrottled(entry, memory, now: now)
        pendingIndex.noteIfIdle(entry)
    }

    /// Restores a request without a run.
    package mutating func restore(
        _ request: Request,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        recordInput(.restoredRequest(request), at: now)
        enqueueRestored(request, now: now, &effects)
    }

    /// Restores a request if its task is in the manifest.
    ///
    /// - Returns: whether its task is in the manifest; if not, nothing was done.
    package mutating func restore(
        ifPermitted request: Request,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> Bool {
        guard let task = catalog.task(for: request.task) else { return false }
        recordInput(.restoredRequest(request), at: now)
        enqueueRestored(request, task: task, now: now, &effects)
        return true
    }

    private mutating func enqueueRestored(
        _ request: Request,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        guard let task = catalog.task(for: request.task) else {
            // `start` reports how many there are.
            return park(request, now: now, &effects)
        }
        enqueueRestored(request, task: task, now: now, &effects)
    }

    private mutating func enqueueRestored(
        _ request: Request,
        task: Int,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        if livesInFleet(request) { return gates.partitions.leftovers.append(request) }
        let entry = entry(for: request.task, task: task)
        if let replaced = pendingIndex.accept(request, entry: entry, now: now.unix) {
            effects.append(.commit([.closed(replaced.id, .replaced)]))
        }
    }

    /// Ends a run that was in progress when its daemon ended.
    package mutating func restore(
        interrupted run: RunRecord,
        of request: Request,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        recordInput(.restoredRun(run, of: request), at: now)
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
        effects.append(.commitEnd([.runEnded(record, then: next)], record))
        if case .again(let request) = next { enqueueRestored(request, now: now, &effects) }
    }

    /// Restores a disabled plugin.
    ///
    /// If the plugin is not in the manifest, it stays disabled in case it comes back.
    package mutating func restore(disabledPlugin name: String, reason: String, now: Moment) {
        recordInput(.restoredDisabledPlugin(name: name, reason: reason), at: now)
        if let plugin = catalog.currentPlugins[name] {
            gates.plugins[plugin].disabledReason = reason
        } else {
            gates.disabledElsewhere[name] = reason
        }
    }
}
