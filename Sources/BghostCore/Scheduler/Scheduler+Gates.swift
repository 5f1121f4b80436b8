// SPDX-License-Identifier: Apache-2.0

/// What stands in the way of requests: the same looks as the decisions, with all that is known.
///
/// Whether a gate is open is asked of whoever decides by it, the request's place in the book or
/// `RunGates`, and never worked out here.
extension Scheduler {
    /// Every gate of a request that waits, in the order of `Gate.Kind`; none if it does not wait.
    ///
    /// - Parameter countsAhead: whether to say how many go before it, which is to look at them all.
    package func gates(of request: Request, now: Moment, countsAhead: Bool = false) -> [Gate] {
        guard let task = catalog.task(for: request.task) else {
            let place = RequestPlace(request: request, rank: 0)
            return [removedGate(request)] + dateGates(place, now: now)
        }
        guard let index = book.entry(of: request.task),
            let place = book.entries[index].place(of: request.id)
        else { return [] }
        var gates = pluginGates(task)
        gates.append(permittedGate(request))
        if !request.isSimulated {
            gates += dateGates(place, now: now)
            if let clock = clockGate(request, task: task, now: now) { gates.append(clock) }
            gates.append(throttleGate(request, index, now: now))
            if let budget = budgetGate(task, now: now) { gates.append(budget) }
            gates += requirementGates(request, task: task)
        }
        gates.append(predecessorGate(request, index, now: now))
        gates.append(overlapGate(index))
        gates.append(handlerGate(task))
        gates.append(
            slotGate(
                ahead: countsAhead && !hasFreeSlot
                    ? book.requestsAhead(of: request, now: now.unix) : nil
            )
        )
        return gates + passingGates(request)
    }

    // MARK: The manifest

    private func removedGate(_ request: Request) -> Gate {
        Gate(
            .manifestRemoved,
            isOpen: false,
            now: "the manifest does not permit its task any more; it is given up at"
                + " \(Timestamp.text(unixNanoseconds: parking.end(of: request)))",
            wanted: "the task in `tasks`",
            source: settings.manifestPath,
            since: parking.since(request.task),
            remedy:
                "add \(request.task) to `tasks` in \(settings.manifestPath), or withdraw it with"
                + " `bghost cancel \(request.task)`",
            condition: "the manifest permitted its task"
        )
    }

    private func permittedGate(_ request: Request) -> Gate {
        Gate(
            .manifestRemoved,
            isOpen: true,
            now: "the manifest permits its task",
            wanted: "the task in `tasks`",
            source: settings.manifestPath
        )
    }

    // MARK: The plugin

    private func pluginGates(_ task: Int) -> [Gate] {
        let index = catalog.pluginOfTask[task]
        let name = catalog.plugins[index].name
        let plugin = gates.plugins[index]
        let isOn = gates.isSwitchedOn(index)
        let isUsable = gates.isUsable(index)
        return [
            Gate(
                .pluginDisabled,
                isOpen: isOn,
                now: gates.switchedOff(index) ?? "`\(name)` is switched on",
                wanted: "`\(name)` switched on",
                since: plugin.switches.since,
                remedy: isOn ? "" : "bghost enable \(name)",
                condition: "`\(name)` were switched on",
                changes: plugin.switches.changes
            ),
            Gate(
                .pluginMissing,
                isOpen: isUsable,
                now: plugin.problem ?? "`\(name)` can be used",
                wanted: "a library that can be loaded",
                since: plugin.problems.since,
                remedy: isUsable
                    ? "" : "mend the library of `\(name)`; `bghost why` has it looked at again",
                condition: "the library of `\(name)` could be loaded",
                changes: plugin.problems.changes
            ),
        ]
    }

    // MARK: Dates

    private func dateGates(_ place: RequestPlace, now: Moment) -> [Gate] {
        let request = place.request
        let isDue = request.earliestBegin ?? .min <= now.unix
        let begin = request.earliestBegin.map { Timestamp.text(unixNanoseconds: $0) }
        var gates = [
            Gate(
                .notBefore,
                isOpen: isDue,
                now: Timestamp.text(unixNanoseconds: now.unix),
                wanted: begin.map { "\($0) or later" } ?? "any time",
                since: request.submittedAt,
                until: request.earliestBegin,
                remedy: isDue ? "" : "bghost trigger \(request.task) runs it now, as a trial",
                condition: begin.map { "it were \($0)" } ?? ""
            )
        ]
        if request.tolerance > 0 {
            gates.append(
                request.aim != nil && !request.isRetry
                    ? usualUseGate(place, now: now) : coalescingGate(place, now: now)
            )
        }
        if let latest = request.latestBegin {
            gates.append(
                Gate(
                    .notAfter,
                    isOpen: !place.isMissed(now: now.unix),
                    now: place.isMissed(now: now.unix)
                        ? "its latest begin date has passed"
                        : Timestamp.text(unixNanoseconds: now.unix),
                    wanted: "\(Timestamp.text(unixNanoseconds: latest)) or earlier"
                )
            )
        }
        return gates
    }

    private func coalescingGate(_ place: RequestPlace, now: Moment) -> Gate {
        let request = place.request
        let isOpen = place.begin <= now.unix
        let begin = request.begin.map { Timestamp.text(unixNanoseconds: $0) }
        return Gate(
            .coalescing,
            isOpen: isOpen,
            now: "it may begin up to"
                + " \(DurationText.of(nanoseconds: UInt64(max(0, request.tolerance)))) late",
            wanted: begin.map { "\($0), where others meet it, or later" } ?? "any time",
            since: request.submittedAt,
            until: request.begin,
            remedy: isOpen ? "" : "submit it without `tolerance`, or take that out of the task",
            condition: "it had no tolerance"
        )
    }

    private func usualUseGate(_ place: RequestPlace, now: Moment) -> Gate {
        let request = place.request
        let isOpen = place.begin <= now.unix
        return Gate(
            .usualUse,
            isOpen: isOpen,
            now: usualUse(of: request.task, now: now),
            wanted: request.begin.map { "\(Timestamp.text(unixNanoseconds: $0)) or later" } ?? "",
            since: request.submittedAt,
            until: request.begin,
            remedy: isOpen
                ? ""
                : "bghost uses clear \(request.task), and submit it again; or take `learnsUse` out of"
                    + " the task",
            condition: "it did not wait for its usual use"
        )
    }

    private func clockGate(_ request: Request, task: Int, now: Moment) -> Gate? {
        guard gates.waitsForClock(request, task: task), let clock = gates.clock else { return nil }
        let wait = Int64(clamping: clock.until.subtractingClamped(now.monotonic))
        return Gate(
            .clockUnsynced,
            isOpen: false,
            now: clock.doubt.sentence,
            wanted: "a clock that is kept right",
            source: "adjtimex",
            until: now.unix.addingClamped(wait),
            remedy: "set the clock, or start a time service such as systemd-timesyncd",
            condition: "the clock were right"
        )
    }

    private func throttleGate(_ request: Request, _ entry: Int, now: Moment) -> Gate {
        let hold = book.entries[entry].hold
        let debt = memories[entry]?.debt
        let points = debt?.points(now: now.unix) ?? 0
        let isOpen = hold ?? .min <= now.unix
        return Gate(
            .throttle,
            isOpen: isOpen,
            now: "it owes \(points)",
            wanted: isOpen
                ? "no delay" : hold.map { "\(Timestamp.text(unixNanoseconds: $0)) or later" } ?? "",
            since: isOpen ? nil : debt?.changedAt,
            until: isOpen ? nil : hold,
            remedy: isOpen ? "" : "bghost throttle clear \(request.task)",
            condition: "what it owes were forgiven"
        )
    }

    private func budgetGate(_ task: Int, now: Moment) -> Gate? {
        let quota = quota(of: task)
        guard let (used, limit) = gates.budgets.use(quota) else { return nil }
        // One that is over is refilled as soon as somebody looks.
        let until = gates.budgets.spentUntil(quota).flatMap { $0 > now.unix ? $0 : nil }
        let plugin = catalog.plugin(ofTask: task).name
        let kind = catalog.tasks[task].kind.rawValue
        let limitText = DurationText.of(nanoseconds: UInt64(max(0, limit)))
        return Gate(
            .budget,
            isOpen: until == nil,
            now: "its \(kind) runs took \(DurationText.of(nanoseconds: UInt64(max(0, used)))) of"
                + " \(limitText) within a day",
            wanted: "less than \(limitText)",
            source: settings.manifestPath,
            until: until,
            remedy: until == nil
                ? "" : "raise `runtimePerDay` of `\(plugin)` in \(settings.manifestPath)",
            condition: "`\(plugin)` had runtime left"
        )
    }

    // MARK: The machine

    private func requirementGates(_ request: Request, task: Int) -> [Gate] {
        let required = gates.required(by: request, task: task)
        let facts = gates.facts ?? FactSheet(probes: [])
        let unmet = gates.unmet(required).reduce(into: RequirementSet()) {
            $0.formUnion($1.requirement)
        }
        return required.each.map { requirement in
            let fact = facts[requirement]
            let name = requirement.name(probes: facts.probes)
            let isOpen = unmet.isDisjoint(with: requirement)
            return Gate(
                .requirement,
                name: name,
                isOpen: isOpen,
                now: fact.reading.isEmpty ? "\(fact.value)" : fact.reading,
                wanted: requirement.wanted,
                source: fact.source,
                since: fact.since,
                remedy: isOpen
                    ? ""
                    : fact.source == FactSheet.simulationSource
                        ? "bghost simulate fact \(name)=real" : "see to \(requirement.wanted)",
                condition: "requirement \(name) held",
                changes: fact.changes
            )
        }
    }

    // MARK: Other requests and runs

    private func predecessorGate(_ request: Request, _ entry: Int, now: Moment) -> Gate {
        let first = book.first(of: entry, now: now.unix)?.id
        let other = first == request.id ? nil : first
        return Gate(
            .predecessor,
            isOpen: other == nil,
            now: other.map { "\($0) goes first" } ?? "none goes first",
            wanted: "no other request of its task before it",
            remedy: other == nil ? "" : "bghost why \(request.task) says what that one waits for",
            condition: other.map { "\($0), which goes first, had had its run" } ?? "",
            ids: other.map { [$0] } ?? []
        )
    }

    private func overlapGate(_ entry: Int) -> Gate {
        let entry = (index: entry, value: book.entries[entry])
        let others = running.all.map(\.running).filter { $0.entry == entry.index }
        let isOpen = entry.value.hasRoom
        return Gate(
            .overlap,
            isOpen: isOpen,
            now: others.isEmpty ? "no run of it is under way" : "under way: \(names(of: others))",
            wanted: entry.value.overlap == .allow
                ? "nothing; its runs may overlap" : "no run of it",
            since: others.map(\.begunAt).min(),
            remedy: isOpen || others.isEmpty
                ? "" : "the end of that run; bghost stop \(others[0].run) asks it to stop",
            condition: "the run of it that is under way had ended",
            ids: others.prefix(Gate.idsMax).map(\.run)
        )
    }

    private func handlerGate(_ task: Int) -> Gate {
        let index = catalog.handlerOfTask[task]
        let handler = gates.handlers[index]
        let others = running.all.map(\.running).filter { catalog.handlerOfTask[$0.task] == index }
        let isOpen = gates.isFree(index)
        let rule =
            switch handler.isSerial {
            case true: "one at a time"
            case false: "any number at a time"
            case nil: "one at a time until its plugin is loaded"
            }
        return Gate(
            .handler,
            isOpen: isOpen,
            now: others.isEmpty
                ? "no run of its handler is under way" : "under way: \(names(of: others))",
            wanted: rule,
            since: others.map(\.begunAt).min(),
            remedy: isOpen || others.isEmpty
                ? "" : "the end of that run; bghost stop \(others[0].run) asks it to stop",
            condition: "the run of its handler had ended",
            ids: others.prefix(Gate.idsMax).map(\.run)
        )
    }

    private func slotGate(ahead: Int?) -> Gate {
        let isOpen = hasFreeSlot
        let all = isOpen ? [] : running.all.map(\.running)
        let place = ahead.map { ", and \($0) requests are before it" } ?? ""
        return Gate(
            .slot,
            isOpen: isOpen,
            now: isOpen
                ? "\(running.count) of \(settings.slots) slots are taken"
                : "all \(settings.slots) are taken\(place)",
            wanted: "one of \(settings.slots)",
            // Since the last of them was taken: all of these have been under way since then.
            since: all.map(\.begunAt).max(),
            remedy: isOpen
                ? "" : "the end of some run, or more `slots` in \(settings.manifestPath)",
            condition: "a slot were free for it",
            ids: all.prefix(Gate.idsMax).map(\.run)
        )
    }

    private func names(of runs: [RunningTable.Running]) -> String {
        let more = runs.count - Gate.idsMax
        return runs.prefix(Gate.idsMax).map { "\($0.run)" }.joined(separator: ", ")
            + (more > 0 ? " and \(more) more" : "")
    }

    // MARK: What passes by itself

    private func passingGates(_ request: Request) -> [Gate] {
        let isReplaced = gates.isBeingReplaced(request)
        return [
            Gate(
                .replacement,
                isOpen: !isReplaced,
                now: isReplaced
                    ? "a newer request of its task is about to take its place"
                    : "no newer request of its task comes",
                wanted: "none"
            ),
            Gate(
                .drain,
                isOpen: !isDraining,
                now: isDraining ? "bghost is stopping" : "bghost takes requests",
                wanted: "a bghost that is not stopping",
                since: drainingSince,
                remedy: isDraining ? "start bghost again" : "",
                condition: "bghost were not stopping"
            ),
        ]
    }
}
