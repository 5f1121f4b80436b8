// SPDX-License-Identifier: Apache-2.0

/// What stands in the way of requests: the same looks as the decisions, with all that is known.
extension Scheduler {
    /// Every gate of a request that waits, in the order of `Gate.Kind`.
    ///
    /// - Parameter countsAhead: whether to say how many go before it, which is to look at them all.
    package func gates(of request: Request, now: Moment, countsAhead: Bool = false) -> [Gate] {
        guard let task = catalog.task(for: request.task) else { return [removed(request)] }
        var gates = [pluginGate(task), problemGate(task)]
        if !request.isSimulated {
            gates.append(dateGate(request, now: now))
            gates.append(throttleGate(request, now: now))
            gates += requirementGates(request, task: task)
        }
        gates.append(overlapGate(request, task: task))
        gates.append(handlerGate(task))
        gates.append(
            slotGate(ahead: countsAhead ? book.requestsAhead(of: request, now: now.unix) : nil)
        )
        if self.gates.beingReplaced.contains(request.id) {
            gates.append(
                Gate(
                    .replacement,
                    isOpen: false,
                    now: "a newer request of its task is about to take its place",
                    wanted: "none"
                )
            )
        }
        if isDraining {
            gates.append(Gate(.drain, isOpen: false, now: "bghost is stopping", wanted: "a start"))
        }
        return gates
    }

    // MARK: The plugin

    private func removed(_ request: Request) -> Gate {
        Gate(
            .manifestRemoved,
            isOpen: false,
            now: "the manifest does not permit its task any more",
            wanted: "the task in `tasks`",
            source: settings.manifestPath,
            remedy:
                "add \(request.task) to `tasks` in \(settings.manifestPath), or withdraw it with"
                + " `bghost cancel \(request.task)`"
        )
    }

    private func pluginGate(_ task: Int) -> Gate {
        let plugin = catalog.pluginOfTask[task]
        let name = catalog.plugins[plugin].name
        let off = gates.switchedOff(plugin)
        return Gate(
            .pluginDisabled,
            isOpen: off == nil,
            now: off ?? "`\(name)` is switched on",
            wanted: "`\(name)` switched on",
            remedy: off == nil ? "" : "bghost enable \(name)"
        )
    }

    private func problemGate(_ task: Int) -> Gate {
        let plugin = catalog.pluginOfTask[task]
        let name = catalog.plugins[plugin].name
        let problem = gates.plugins[plugin].problem
        return Gate(
            .pluginMissing,
            isOpen: problem == nil,
            now: problem ?? "`\(name)` can be used",
            wanted: "a library that can be loaded",
            remedy: problem == nil ? "" : "mend the library of `\(name)`; it is then tried again"
        )
    }

    // MARK: Dates

    private func dateGate(_ request: Request, now: Moment) -> Gate {
        let begin = request.earliestBegin ?? request.submittedAt
        return Gate(
            .notBefore,
            isOpen: begin <= now.unix,
            now: Timestamp.text(unixNanoseconds: now.unix),
            wanted: "\(Timestamp.text(unixNanoseconds: begin)) or later",
            since: request.submittedAt,
            until: begin,
            remedy: begin <= now.unix
                ? "" : "bghost trigger \(request.task) runs it now, as a trial"
        )
    }

    private func throttleGate(_ request: Request, now: Moment) -> Gate {
        let debt = book.entry(of: request.task).flatMap { memories[$0] }?.debt
        let points = debt?.points(now: now.unix) ?? 0
        let until = debt?.nextStart(now: now.unix)
        return Gate(
            .throttle,
            isOpen: until == nil,
            now: "it owes \(points)",
            wanted: until.map { "\(Timestamp.text(unixNanoseconds: $0)) or later" } ?? "no delay",
            since: until == nil ? nil : debt?.changedAt,
            until: until,
            remedy: until == nil ? "" : "bghost throttle clear \(request.task)"
        )
    }

    // MARK: The machine

    private func requirementGates(_ request: Request, task: Int) -> [Gate] {
        let required = gates.required(by: request, task: task)
        let facts = gates.facts ?? FactSheet(probes: [])
        let unmet = facts.unmet(required).reduce(into: RequirementSet()) {
            $0.formUnion($1.requirement)
        }
        return required.each.map { requirement in
            let fact = facts[requirement]
            let name = requirement.name(probes: facts.probes)
            let isOpen = unmet.isDisjoint(with: requirement)
            return Gate(
                .requirement,
                isOpen: isOpen,
                now: fact.reading.isEmpty ? "\(fact.value)" : fact.reading,
                wanted: "\(name): \(requirement.wanted)",
                source: fact.source,
                since: fact.since,
                remedy: isOpen ? "" : "\(requirement.wanted), so that \(name) holds",
                changes: fact.changes
            )
        }
    }

    // MARK: Other runs

    private func overlapGate(_ request: Request, task: Int) -> Gate {
        let others = running.all.map(\.running).filter { $0.request.task == request.task }
        let overlap = catalog.tasks[task].overlap
        let isOpen = others.isEmpty || overlap == .allow
        let names = others.map { "\($0.run)" }.joined(separator: ", ")
        return Gate(
            .overlap,
            isOpen: isOpen,
            now: others.isEmpty ? "no run of it is under way" : "under way: \(names)",
            wanted: overlap == .allow ? "nothing; its runs may overlap" : "no run of it",
            since: isOpen ? nil : others.map(\.begunAt).min(),
            remedy: isOpen ? "" : "the end of that run; `bghost stop \(names)` asks it to stop"
        )
    }

    private func handlerGate(_ task: Int) -> Gate {
        let handler = gates.handlers[catalog.handlerOfTask[task]]
        let isOpen = handler.running == 0 || handler.isSerial == false
        let rule =
            switch handler.isSerial {
            case true: "one at a time"
            case false: "any number at a time"
            case nil: "one at a time until its plugin is loaded"
            }
        return Gate(
            .handler,
            isOpen: isOpen,
            now: "\(handler.running) runs of its handler are under way",
            wanted: rule,
            remedy: isOpen ? "" : "the end of that run"
        )
    }

    private func slotGate(ahead: Int?) -> Gate {
        let isOpen = running.count < settings.slots
        let place = ahead.map { ", and \($0) requests are before it" } ?? ""
        return Gate(
            .slot,
            isOpen: isOpen,
            now: isOpen
                ? "\(running.count) of \(settings.slots) slots are taken"
                : "all \(settings.slots) are taken\(place)",
            wanted: "one of \(settings.slots)",
            remedy: isOpen ? "" : "the end of some run, or more `slots` in \(settings.manifestPath)"
        )
    }
}
