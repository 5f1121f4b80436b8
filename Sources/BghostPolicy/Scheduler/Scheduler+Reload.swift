// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostFacts
package import BghostModel

/// What happened to requests when the manifest was replaced.
package struct ReloadOutcome: Equatable, Sendable {
    package var change: CatalogChange
    /// Requests whose task is no longer in the manifest; they wait for it to come back.
    package var parked = 0
    /// Requests whose task is in the manifest again.
    package var unparked = 0
}

/// Replaces the manifest while runs are in progress.
extension Scheduler {
    /// Replaces the manifest.
    ///
    /// Runs in progress keep the definition with which they started, also for the number of their retries.
    /// Waiting requests follow the new definition. Nothing starts yet: the caller first updates the plugins,
    /// and then calls `dispatch`.
    ///
    /// - Parameters:
    ///   - slots: the new limit of concurrent runs.
    ///   - replaced: plugins to treat as new although their definition is unchanged, because their
    ///     file has changed.
    ///   - kept: plugins whose index something else needs, such as an executor; others that are retired and
    ///     have no run may lose it to new ones at the next reload.
    @discardableResult
    package mutating func reload(
        _ manifest: Manifest,
        slots: Int,
        replacing replaced: [String],
        keeping kept: [Int] = [],
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> ReloadOutcome {
        recordInput(
            .reloaded(
                manifest: manifest.fingerprint,
                slots: slots,
                replacing: replaced,
                keeping: kept
            ),
            at: now
        )
        let probes = settings.manifest.host.facts.probes.map(\.name)
        let change = catalog.adopt(
            manifest,
            replacing: Set(replaced),
            probes: probes.renumbered(as: manifest.host.facts.probes.map(\.name))
        )
        let hasOtherPower = settings.manifest.host.powerPolicy != manifest.host.powerPolicy
        settings.manifest = manifest
        settings.slots = slots
        pendingIndex.slots = slots
        gates.adopt(catalog, change)
        var outcome = ReloadOutcome(change: change)
        let (changed, removed) = changedEntries(change)
        pendingIndex.redefine(
            changed.map { ($0.entry, kind(of: $0.task)) }
                + removed.map { ($0, unnamedKind(of: $0)) },
            now: now.unix
        )
        findLearners()
        for (entry, _) in changed {
            guard let memory = memories[entry] else { continue }
            delayThrottled(entry, memory, now: now)
        }
        outcome.parked = park(removed, now: now, &effects)
        outcome.unparked = unpark(now: now, &effects)
        forgetParked(now: now, &effects)
        for (entry, task) in changed
        where schedules[entry] != nil && catalog.tasks[task].identifier.isFamily {
            dropSchedule(of: entry, now: now, &effects)
        }
        if hasOtherPower {
            recheckRequests(now: now) { [catalog] in catalog.tasks[$0].kind == .refresh }
        }
        for task in change.newTasks { applyTaskChange(task, change, now: now, &effects) }
        forgetIdle(now: now, &effects)
        release(keeping: kept, &outcome.change)
        return outcome
    }

    /// Frees the definitions of earlier manifests that have neither a run nor an identifier.
    private mutating func release(keeping kept: [Int], _ change: inout CatalogChange) {
        var tasks = Set(running.all.map(\.running.task))
        for kind in pendingIndex.entries.kindsInUse { tasks.insert(kind.definition) }
        catalog.release(tasksInUse: tasks, pluginsInUse: Set(kept))
        pendingIndex.clear(groups: catalog.unused.plugins, handlerQueues: catalog.unused.handlers)
        change.unusedPlugins = catalog.unused.plugins
        gates.follow(catalog)
    }

    private func kind(of task: Int) -> PendingRequestIndex.Kind {
        PendingRequestIndex.Kind(
            definition: task,
            group: catalog.pluginOfTask[task],
            handlerQueue: catalog.handlerOfTask[task],
            quota: quotaIndex(of: task),
            overlap: catalog.tasks[task].overlap,
            isNamed: !catalog.tasks[task].identifier.isFamily
        )
    }

    /// The kind of an entry whose identifier the manifest no longer permits.
    private func unnamedKind(of entry: Int) -> PendingRequestIndex.Kind {
        var kind = pendingIndex.entries.kind(entry)
        kind.isNamed = false
        return kind
    }

    /// The entries whose task has changed, and those whose task was removed.
    private mutating func changedEntries(
        _ change: CatalogChange
    ) -> (changed: [(entry: Int, task: Int)], removed: [Int]) {
        var changed: [(entry: Int, task: Int)] = []
        var removed: [Int] = []
        let moves = moves(change)
        for entry in pendingIndex.entries.indices where pendingIndex.entries.isInUse(entry) {
            let task = pendingIndex.entries.kind(entry).definition
            switch moves[task] {
            case .none: continue
            case .to(let successor): changed.append((entry, successor))
            case .search:
                identifierSearches += 1
                let current = catalog.task(for: pendingIndex.entries[entry].identifier)
                if let current, current != task { changed.append((entry, current)) }
                if current == nil { removed.append(entry) }
            }
        }
        // New names of members, whose families may have stayed.
        var named: [Int: Int] = [:]
        for task in change.newTasks
        where change.formerTasks[task] == nil && !catalog.tasks[task].identifier.isFamily {
            let name = catalog.tasks[task].identifier.description
            if let entry = pendingIndex.entry(of: name) { named[entry] = task }
        }
        if !named.isEmpty { changed.removeAll { named[$0.entry] != nil } }
        changed += named.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        return (changed, removed)
    }

    /// Where the identifiers of a task go with another manifest.
    private enum Move {
        /// They stay.
        case none
        /// All go to this task.
        case to(Int)
        /// Each has to be searched.
        case search
    }

    /// The moves by task; so most identifiers need no search, of which there may be a million.
    private func moves(_ change: CatalogChange) -> [Move] {
        var moves = Array(repeating: Move.search, count: catalog.tasks.count)
        for task in catalog.currentTasks { moves[task] = .none }
        for (task, former) in change.formerTasks { moves[former] = .to(task) }
        // A new family takes identifiers from the larger ones that contain it.
        for task in change.newTasks where change.formerTasks[task] == nil {
            let identifier = catalog.tasks[task].identifier
            guard identifier.isFamily else { continue }
            for stem in TaskCatalog.stems(of: String(identifier.description.dropLast(2))) {
                guard let larger = catalog.family("\(stem)*") else { continue }
                moves[larger] = .search
                if let former = change.formerTasks[larger] { moves[former] = .search }
            }
        }
        return moves
    }

    /// Parks the waiting requests of removed tasks.
    ///
    /// - Returns: the number of requests.
    private mutating func park(
        _ removed: [Int],
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> Int {
        var parked: [Request] = []
        var changes: [StoreChange] = []
        for entry in removed {
            schedules[entry] = nil
            let requests = pendingIndex.withdrawAll(entry: entry)
            pendingIndex.delay(entry: entry, until: nil, now: now.unix)
            if var memory = memories.removeValue(forKey: entry) {
                if memory.endSchedule() {
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
        logParked(parked, &effects)
        return parked.count
    }

    /// Requeues parked requests whose tasks are in the manifest again.
    ///
    /// - Returns: the number of requests.
    private mutating func unpark(now: Moment, _ effects: inout [SchedulerEffect]) -> Int {
        let (requests, changed) = parking.remove { [catalog] in catalog.task(for: $0) != nil }
        if !changed.isEmpty { effects.append(.commit(changed.map { .remembered($0) })) }
        // Restore the state first: its throttle points delay the requests that follow.
        for memory in parking.remembered {
            guard let task = catalog.task(for: memory.identifier),
                let memory = parking.remove(memory.identifier)
            else { continue }
            remember(memory, entry: entry(for: memory.identifier, task: task), now: now)
        }
        for request in requests {
            guard let task = catalog.task(for: request.task) else { continue }
            let entry = entry(for: request.task, task: task)
            enqueue(request, entry: entry, now: now, &effects)
        }
        if !requests.isEmpty { effects.append(.log(.unparked(requests.count))) }
        return requests.count
    }

    /// Adopts the schedule and `submitAtStart` of a new or changed task.
    private mutating func applyTaskChange(
        _ index: Int,
        _ change: CatalogChange,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        let task = catalog.tasks[index]
        guard !task.identifier.isFamily else { return }
        let entry = entry(for: task.identifier.description, task: index)
        if let schedule = task.schedule {
            replaceSchedule(schedule, entry: entry, now: now, &effects)
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
    /// For each probe here, its requirement under another list of names; `nil` if nothing changes.
    fileprivate func renumbered(as others: [String]) -> [RequirementSet]? {
        guard !elementsEqual(others.prefix(count)) else { return nil }
        return map { name in
            others.firstIndex(of: name).map { .probe($0) } ?? []
        }
    }
}
