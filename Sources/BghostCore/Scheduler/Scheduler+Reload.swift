// SPDX-License-Identifier: Apache-2.0

/// What became of requests when another manifest took the place of the first.
package struct ReloadOutcome: Equatable, Sendable {
    package var change: CatalogChange
    /// Requests whose task is permitted no more: they wait for it to come back.
    package var parked = 0
    /// Requests whose task is permitted again.
    package var unparked = 0
}

/// Another manifest, taken up while runs are under way.
extension Scheduler {
    /// Puts another manifest in the place of the one that it has.
    ///
    /// Runs under way go on under the terms with which they began, and so do their retries as far as
    /// how often they are tried. What waits goes on waiting under the new terms. Nothing begins yet:
    /// `dispatch` is to be called once its caller has done what concerns plugins.
    ///
    /// - Parameters:
    ///   - slots: how many runs may be under way at once from now on.
    ///   - replaced: plugins that are to be new ones although their section is what it was, because
    ///     their file is another.
    @discardableResult
    package mutating func reload(
        _ manifest: Manifest,
        slots: Int,
        replacing replaced: [String],
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> ReloadOutcome {
        note(
            .reloaded(manifest: manifest.fingerprint, slots: slots, replacing: replaced),
            at: now
        )
        let probes = settings.manifest.host.facts.probes.map(\.name)
        let change = catalog.take(
            manifest,
            replacing: Set(replaced),
            probes: probes.renumbered(as: manifest.host.facts.probes.map(\.name))
        )
        settings.manifest = manifest
        settings.slots = slots
        book.slots = slots
        gates.take(catalog, change)
        var outcome = ReloadOutcome(change: change)
        let (others, gone) = entriesOfOthers(change)
        book.redefine(others.map { ($0.entry, kind(of: $0.task)) }, now: now.unix)
        outcome.parked = park(gone, now: now, &effects)
        outcome.unparked = unpark(now: now, &effects)
        for (entry, task) in others
        where schedules[entry] != nil && catalog.tasks[task].identifier.isFamily {
            dropSchedule(of: entry, now: now, &effects)
        }
        for task in change.newTasks { takeUp(task, change, now: now, &effects) }
        return outcome
    }

    private func kind(of task: Int) -> RequestBook.Kind {
        RequestBook.Kind(
            definition: task,
            group: catalog.pluginOfTask[task],
            quota: quota(of: task),
            overlap: catalog.tasks[task].overlap
        )
    }

    /// The identifiers whose task is another one now, and those that have none any more.
    private func entriesOfOthers(
        _ change: CatalogChange
    ) -> (others: [(entry: Int, task: Int)], gone: [Int]) {
        var others: [(entry: Int, task: Int)] = []
        var gone: [Int] = []
        var successors: [Int: Int] = [:]
        for (task, former) in change.formerTasks { successors[former] = task }
        for entry in book.entries.indices {
            let task = book.entries.kind(entry).definition
            // To look up a million identifiers takes long, and mostly the same are permitted.
            guard change.permitsOthers else {
                if let successor = successors[task] { others.append((entry, successor)) }
                continue
            }
            let current = catalog.task(for: book.entries[entry].identifier)
            if let current, current != task { others.append((entry, current)) }
            if current == nil { gone.append(entry) }
        }
        return (others, gone)
    }

    /// Parks what waits for tasks that are permitted no more.
    ///
    /// - Returns: how many requests those are.
    private mutating func park(
        _ gone: [Int],
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> Int {
        var parked: [Request] = []
        var changes: [StoreChange] = []
        for entry in gone {
            schedules[entry] = nil
            let requests = book.withdrawAll(entry: entry)
            book.hold(entry: entry, until: nil, now: now.unix)
            if var memory = memories.removeValue(forKey: entry) {
                if !memory.schedule.isEmpty {
                    memory.schedule = ""
                    memory.scheduledSince = nil
                    changes.append(.remembered(memory))
                }
                parking.remember(memory)
            }
            for request in requests {
                if let memory = parking.add(request, now: now.unix) {
                    changes.append(.remembered(memory))
                }
            }
            parked += requests
        }
        if !changes.isEmpty { effects.append(.commit(changes)) }
        sayParked(parked, &effects)
        return parked.count
    }

    /// Has what is parked wait for its task again where that is back.
    ///
    /// - Returns: how many requests those are.
    private mutating func unpark(now: Moment, _ effects: inout [SchedulerEffect]) -> Int {
        let (requests, changed) = parking.remove { [catalog] in
            catalog.task(for: $0.task) != nil
        }
        if !changed.isEmpty { effects.append(.commit(changed.map { .remembered($0) })) }
        // What is remembered goes before: a debt holds what comes behind it.
        for memory in parking.remembered {
            guard let task = catalog.task(for: memory.identifier),
                let memory = parking.take(memory.identifier)
            else { continue }
            remember(memory, entry: entry(for: memory.identifier, task: task), now: now)
        }
        for request in requests {
            guard let task = catalog.task(for: request.task) else { continue }
            let entry = entry(for: request.task, task: task)
            takeIn(request, entry: entry, now: now, &effects)
        }
        if !requests.isEmpty { effects.append(.note(.unparked(requests.count))) }
        return requests.count
    }

    /// Takes up what the manifest itself submits of a task that is new or has changed.
    private mutating func takeUp(
        _ index: Int,
        _ change: CatalogChange,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        let task = catalog.tasks[index]
        guard !task.identifier.isFamily else { return }
        let entry = entry(for: task.identifier.description, task: index)
        if let schedule = task.schedule {
            retake(schedule, entry: entry, now: now, &effects)
        } else {
            dropSchedule(of: entry, now: now, &effects)
        }
        let wasSubmitted = change.formerTasks[index].map { catalog.tasks[$0].submitAtStart }
        if task.submitAtStart, wasSubmitted != true {
            submitAtStart(entry: entry, now: now, &effects)
        }
    }
}

extension [String] {
    /// By the place of a probe here, its bit under another list of names; `nil` if nothing changes.
    fileprivate func renumbered(as others: [String]) -> [RequirementSet]? {
        guard !elementsEqual(others.prefix(count)) else { return nil }
        return map { name in
            others.firstIndex(of: name).map { .probe($0) } ?? []
        }
    }
}
