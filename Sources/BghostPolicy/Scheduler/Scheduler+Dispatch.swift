// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostModel

extension Scheduler {
    /// Starts all requests that can start, as long as there are free slots.
    package mutating func dispatch(now: Moment, _ effects: inout [SchedulerEffect]) {
        recordInput(.dispatch, at: now)
        startReadyRequests(now: now, &effects)
    }

    /// Starts requests until no slot is free or no request can start, and forgets idle identifiers.
    ///
    /// Every event that may permit a start calls this last.
    mutating func startReadyRequests(now: Moment, _ effects: inout [SchedulerEffect]) {
        startRequests(now: now, &effects)
        forgetIdle(now: now, &effects)
    }

    private mutating func startRequests(now: Moment, _ effects: inout [SchedulerEffect]) {
        guard !isDraining, storeBlock == nil else { return }
        gates.fleet.now = now.sinceBoot
        defer { claimStarts(&effects) }
        while hasFreeSlot {
            let decision = pendingIndex.next(
                now: now.unix,
                &gates,
                isPaused: { $2.isPaused($0.task, task: $1) },
                isServed: { $1.fleet.isServed($0.id) },
                canStart: { $2.mayStart($0, task: $1) }
            )
            switch decision {
            case .none:
                for plugin in gates.inspections { effects.append(.inspect(plugin: plugin)) }
                gates.inspections.removeAll(keepingCapacity: true)
                return
            case .start(let request, let entry): startRun(request, entry: entry, now: now, &effects)
            case .skipped(let request, let entry):
                end(request, entry: entry, .skipped, now: now, &effects)
            case .served(let request, let entry):
                end(request, entry: entry, .servedElsewhere, now: now, &effects)
            case .missed(let request, let entry):
                // Another host has begun in time.
                let isServed = gates.fleet.server(of: request.id) != nil
                end(
                    request,
                    entry: entry,
                    isServed ? .servedElsewhere : .missed,
                    now: now,
                    &effects
                )
            case .paused(let request, let entry) where request.isOfSchedule:
                end(request, entry: entry, .paused, now: now, &effects)
            case .paused(let request, let entry):
                keepPaused(request, entry: entry, now: now, &effects)
            case .displace(let entry):
                for (handle, run) in running.all where run.entry == entry {
                    effects.append(.stop(handle, .user, why: "a newer request takes its place"))
                }
            }
        }
    }

    /// Sets or clears the reason for which no run may start: the store has too many unwritten changes.
    ///
    /// A run would add more changes.
    package mutating func storeBlocked(
        _ reason: String?,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        recordInput(.storeBlocked(reason), at: now)
        storeBlock = reason.map { StoreBlock(reason: $0, since: storeBlock?.since ?? now.unix) }
        startReadyRequests(now: now, &effects)
    }

    var hasFreeSlot: Bool { running.count < settings.slots }

    /// Ends a request that gets no run, or no further one.
    mutating func end(
        _ request: Request,
        entry: Int,
        _ end: RequestEnd,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        var changes: [StoreChange] = [.closed(request.id, end)]
        if let skipped = skippedStart(request, end, now: now) {
            changes.append(.startSkipped(skipped))
        }
        effects.append(.commit(changes + recordServedTime(request, entry: entry, now: now)))
        effects.append(.log(.closed(request, end)))
        effects.append(.requestClosed(request.id))
        releaseStart(of: request.id, .free, &effects)
        submitNextScheduled(after: request, entry: entry, now: now, &effects)
    }

    // MARK: Changed conditions

    /// Checks the requests of some tasks again.
    mutating func recheckRequests(now: Moment, where isWanted: (_ task: Int) -> Bool) {
        let wanted = definitions(where: isWanted)
        guard wanted.contains(true) else { return }
        for entry in pendingIndex.entries.indices
        where pendingIndex.entries.isInUse(entry)
            && wanted[pendingIndex.entries.kind(entry).definition]
        {
            pendingIndex.recheck(entry: entry, now: now.unix)
        }
    }

    /// Records that a plugin has a problem, or has none any longer.
    package mutating func plugin(
        _ plugin: Int,
        hasProblem problem: String?,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        recordInput(.problem(plugin: plugin, text: problem), at: now)
        gates.plugins[plugin].problem = problem
        gates.plugins[plugin].problems.record(
            isOpen: problem == nil,
            reading: problem ?? "none",
            at: now.unix
        )
        guard problem == nil else { return }
        recheckRequests(ofPlugin: plugin, now: now)
        startReadyRequests(now: now, &effects)
    }

    mutating func recheckRequests(ofPlugin plugin: Int, now: Moment) {
        guard gates.plugins[plugin].hasBlockedRequests else { return }
        gates.plugins[plugin].hasBlockedRequests = false
        recheckRequests(now: now) { [catalog] in catalog.pluginOfTask[$0] == plugin }
    }

    /// Records that a plugin was loaded, and which of its handlers are serial.
    ///
    /// - Parameter serial: the names of the serial handlers.
    package mutating func pluginLoaded(
        _ plugin: Int,
        serial: [String],
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        recordInput(.loaded(plugin: plugin, serial: serial), at: now)
        guard !catalog.plugins[plugin].isFunction else { return }
        gates.plugins[plugin].serial = serial
        for index in catalog.handlers(ofPlugin: plugin) {
            gates.handlers[index].isSerial = serial.contains(catalog.handlers[index].name)
            followHandler(index)
        }
        startReadyRequests(now: now, &effects)
    }

    /// Opens or closes the queue of a handler, after its runs or what is known of it have changed.
    mutating func followHandler(_ handler: Int) {
        pendingIndex.set(
            handlerQueue: handler,
            isOpen: gates.isFree(handler),
            isShared: gates.handlers[handler].isSerial == false
        )
    }
}
