// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostModel

extension Scheduler {
    /// Starts all requests that can start, as long as there are free slots.
    package mutating func dispatch(now: Moment, _ effects: inout [SchedulerEffect]) {
        note(.dispatch, at: now)
        beginWhatCan(now: now, &effects)
    }

    /// Starts requests until no slot is free or no request can start.
    ///
    /// Every event that may permit a start calls this last.
    mutating func beginWhatCan(now: Moment, _ effects: inout [SchedulerEffect]) {
        guard !isDraining, storeHold == nil else { return }
        while hasFreeSlot {
            let decision = pendingIndex.next(now: now.unix, &gates) { request, task, gates in
                gates.lets(request, task: task)
            }
            switch decision {
            case .none:
                for plugin in gates.inspections { effects.append(.inspect(plugin: plugin)) }
                gates.inspections.removeAll(keepingCapacity: true)
                return
            case .start(let request, let entry): begin(request, entry: entry, now: now, &effects)
            case .skipped(let request, let entry):
                end(request, entry: entry, .skipped, now: now, &effects)
            case .missed(let request, let entry):
                end(request, entry: entry, .missed, now: now, &effects)
            case .displace(let entry):
                for (ticket, run) in running.all where run.entry == entry {
                    effects.append(.stop(ticket, .user, why: "a newer request takes its place"))
                }
            }
        }
    }

    /// Sets or clears the reason for which no run may start: the store has too many unwritten changes.
    ///
    /// A run would add more changes.
    package mutating func storeHolds(
        _ reason: String?,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        note(.storeHolds(reason), at: now)
        storeHold = reason.map { StoreHold(reason: $0, since: storeHold?.since ?? now.unix) }
        beginWhatCan(now: now, &effects)
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
        effects.append(.commit([.closed(request.id, end)] + leave(request, entry: entry, now: now)))
        effects.append(.note(.ended(request, end)))
        effects.append(.ended(request.id))
        goOn(after: request, entry: entry, now: now, &effects)
    }

    // MARK: Changed conditions

    /// Checks the requests of some tasks again.
    mutating func retryRequests(now: Moment, where isWanted: (_ task: Int) -> Bool) {
        for entry in pendingIndex.entries.indices
        where isWanted(pendingIndex.entries[entry].definition) {
            pendingIndex.retry(entry: entry, now: now.unix)
        }
    }

    /// Records that a plugin has a problem, or has none any longer.
    package mutating func plugin(
        _ plugin: Int,
        hasProblem problem: String?,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        note(.problem(plugin: plugin, text: problem), at: now)
        gates.plugins[plugin].problem = problem
        gates.plugins[plugin].problems.take(
            isOpen: problem == nil,
            reading: problem ?? "none",
            at: now.unix
        )
        guard problem == nil else { return }
        retryRequests(ofPlugin: plugin, now: now)
        beginWhatCan(now: now, &effects)
    }

    mutating func retryRequests(ofPlugin plugin: Int, now: Moment) {
        guard gates.plugins[plugin].hasTurnedAway else { return }
        gates.plugins[plugin].hasTurnedAway = false
        retryRequests(now: now) { [catalog] in catalog.pluginOfTask[$0] == plugin }
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
        note(.loaded(plugin: plugin, serial: serial), at: now)
        guard !catalog.plugins[plugin].isFunction else { return }
        for index in catalog.handlers(ofPlugin: plugin) {
            gates.handlers[index].isSerial = serial.contains(catalog.handlers[index].name)
            followHandler(index)
        }
        beginWhatCan(now: now, &effects)
    }

    /// Opens or closes the lane of a handler, after its runs or what is known of it have changed.
    mutating func followHandler(_ handler: Int) {
        pendingIndex.set(
            lane: handler,
            isOpen: gates.isFree(handler),
            isShared: gates.handlers[handler].isSerial == false
        )
    }
}
