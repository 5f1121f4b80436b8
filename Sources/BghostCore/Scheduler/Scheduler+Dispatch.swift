// SPDX-License-Identifier: Apache-2.0

extension Scheduler {
    /// Begins what can begin, as long as there are slots.
    package mutating func dispatch(now: Moment, _ effects: inout [SchedulerEffect]) {
        note(.dispatch, at: now)
        beginWhatCan(now: now, &effects)
    }

    /// The same at the end of every event that may let something begin.
    mutating func beginWhatCan(now: Moment, _ effects: inout [SchedulerEffect]) {
        guard !isDraining else { return }
        while hasFreeSlot {
            let decision = book.next(now: now.unix, &gates) { request, task, gates in
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

    // MARK: What stands in the way has changed

    /// Brings up again the requests of some tasks.
    mutating func retryRequests(now: Moment, where isWanted: (_ task: Int) -> Bool) {
        for entry in book.entries.indices where isWanted(book.entries[entry].definition) {
            book.retry(entry: entry, now: now.unix)
        }
    }

    /// A plugin has a problem, or none any more.
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

    /// A plugin has been loaded, and it is known which of its handlers' runs exclude one another.
    ///
    /// - Parameter serial: the names of those.
    package mutating func pluginLoaded(
        _ plugin: Int,
        serial: [String],
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        note(.loaded(plugin: plugin, serial: serial), at: now)
        guard !catalog.plugins[plugin].isFunction else { return }
        for (index, handler) in catalog.handlers.enumerated() where handler.plugin == plugin {
            gates.handlers[index].isSerial = serial.contains(handler.name)
            retryRequests(ofHandler: index, now: now)
        }
        beginWhatCan(now: now, &effects)
    }

    mutating func retryRequests(ofHandler handler: Int, now: Moment) {
        guard gates.handlers[handler].hasTurnedAway else { return }
        gates.handlers[handler].hasTurnedAway = false
        retryRequests(now: now) { [catalog] in catalog.handlerOfTask[$0] == handler }
    }
}
