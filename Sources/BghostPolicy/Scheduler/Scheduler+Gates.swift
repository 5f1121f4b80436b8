// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostCalendar
internal import BghostFacts
package import BghostModel

/// The gates that block requests: the same checks as for decisions, with explanations.
///
/// The code that decides also determines whether a gate is met: the request's place in the index, or
/// `RunGates`. This extension only explains the results.
extension Scheduler {
    /// Every gate of a waiting request, in the order of `Gate.Kind`; empty if it does not wait.
    ///
    /// - Parameter ahead: the number of requests that start before it, from ``queuePlaces(of:)``; `nil` if
    ///   it is not known.
    package func gates(of request: Request, now: Moment, ahead: Int? = nil) -> [Gate] {
        guard let task = catalog.task(for: request.task) else {
            let place = RequestPlace(request: request, rank: 0)
            return [removedGate(request)] + dateGates(place, now: now)
        }
        guard let index = pendingIndex.entry(of: request.task),
            let place = pendingIndex.entries[index].place(of: request.id)
        else { return partitionGate(request, task: task, now: now).map { [$0] } ?? [] }
        var gates = pauseGate(request, now: now).map { [$0] } ?? []
        gates += pluginGates(task)
        gates.append(permitGate(request))
        if !request.isManual {
            gates += dateGates(place, now: now)
            if let clock = clockGate(request, task: task, now: now) { gates.append(clock) }
            gates.append(throttleGate(request, index, now: now))
            if let budget = budgetGate(task, now: now) { gates.append(budget) }
            gates += requirementGates(request, task: task, now: now)
            if let power = powerGate(request, task: task) { gates.append(power) }
        }
        gates.append(predecessorGate(request, index, now: now))
        gates.append(overlapGate(index))
        gates.append(handlerGate(task))
        gates.append(slotGate(ahead: hasFreeSlot ? nil : ahead))
        if let fleet = fleetGate(request, task: task, now: now) { gates.append(fleet) }
        if let fleet = partitionGate(request, task: task, now: now) { gates.append(fleet) }
        return gates + temporaryGates(request)
    }

    // MARK: The manifest

    private func removedGate(_ request: Request) -> Gate {
        Gate(
            .manifestRemoved,
            isOpen: false,
            now: "its task is no longer in the manifest; the request is deleted at"
                + " \(Timestamp.text(unixNanoseconds: parking.end(of: request)))",
            wanted: "the task in `tasks`",
            source: settings.manifestPath,
            since: parking.since(request.task),
            remedy:
                "add \(request.task) to `tasks` in \(settings.manifestPath), or withdraw the request:"
                + " `bghost cancel \(request.task)`",
            condition: "the manifest permitted its task"
        )
    }

    private func permitGate(_ request: Request) -> Gate {
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
        let isOn = gates.isEnabled(index)
        let isUsable = gates.isUsable(index)
        return [
            Gate(
                .pluginDisabled,
                isOpen: isOn,
                now: gates.disabledReason(index) ?? "`\(name)` is switched on",
                wanted: "`\(name)` switched on",
                since: plugin.switches.since,
                remedy: isOn ? "" : "`bghost enable \(name)`",
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
                    ? "" : "repair or replace the library of `\(name)`",
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
                now: Timestamp.text(unixNanoseconds: now.unix) + servedBefore(request, now: now),
                wanted: begin.map { "\($0) or later" + randomDelay(of: request) } ?? "any time",
                since: request.submittedAt,
                until: request.earliestBegin,
                remedy: isDue
                    ? "" : "`bghost trigger \(request.task)` runs it now, ignoring its start time",
                condition: begin.map { "it were \($0)" } ?? ""
            )
        ]
        if request.tolerance > 0 {
            gates.append(
                request.chosenStart != nil && !request.isRetry
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

    /// A text for the gate: the schedule's times before this one were served while the clock was ahead.
    ///
    /// - Returns: "" if there are no such times.
    private func servedBefore(_ request: Request, now: Moment) -> String {
        guard let time = request.scheduledTime, let entry = pendingIndex.entry(of: request.task),
            let schedule = schedules[entry], schedule.isCalendar,
            let served = memories[entry]?.served, !served.ranges.isEmpty,
            let next = schedule.recurrence.next(
                after: schedule.rules.offset.scheduledTime(now.unix)
            ),
            next < time, let end = served.end(ofRangeWith: next)
        else { return "" }
        return
            "; its times until \(Timestamp.text(unixNanoseconds: end)) were served already, while"
            + " the clock was ahead"
    }

    /// A text for the gate: the time of the schedule, and the longest delay; "" if there is no random delay.
    private func randomDelay(of request: Request) -> String {
        guard let time = request.scheduledTime, !request.isRetry,
            let rules = pendingIndex.entry(of: request.task).flatMap({ schedules[$0]?.rules }),
            rules.randomDelay > 0
        else { return "" }
        let start = Timestamp.text(unixNanoseconds: rules.offset.start(of: time) ?? time)
        let longest = TaskSchedule.text(of: .nanoseconds(rules.randomDelay))
        return ": its time is \(start), and it is delayed by up to \(longest) at random"
    }

    private func coalescingGate(_ place: RequestPlace, now: Moment) -> Gate {
        let request = place.request
        let isOpen = place.begin <= now.unix
        let begin = request.begin.map { Timestamp.text(unixNanoseconds: $0) }
        return Gate(
            .coalescing,
            isOpen: isOpen,
            now: "may start up to"
                + " \(DurationText.of(nanoseconds: UInt64(max(0, request.tolerance)))) late",
            wanted: begin.map { "\($0), when others start, or later" } ?? "any time",
            since: request.submittedAt,
            until: request.begin,
            remedy: isOpen
                ? "" : "submit it without `tolerance`, or remove `tolerance` from the task",
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
                : "`bghost uses clear \(request.task)`, and submit it again; or remove `learnsUse`"
                    + " from the task",
            condition: "it did not wait for its usual use"
        )
    }

    private func clockGate(_ request: Request, task: Int, now: Moment) -> Gate? {
        guard gates.waitsForClock(request, task: task), let clock = gates.clock else { return nil }
        let wait = Int64(clamping: clock.until.since(now.monotonic))
        return Gate(
            .clockUnsynced,
            isOpen: false,
            now: clock.doubt.sentence,
            wanted: "a synchronized clock",
            source: "adjtimex",
            until: now.unix.addingClamped(wait),
            remedy: "set the clock, or start a time service such as systemd-timesyncd",
            condition: "the clock were right"
        )
    }

    private func throttleGate(_ request: Request, _ entry: Int, now: Moment) -> Gate {
        let delayedUntil = pendingIndex.entries[entry].delayedUntil
        let throttle = memories[entry]?.throttle ?? ThrottlePoints()
        let isOpen = delayedUntil ?? .min <= now.unix
        return Gate(
            .throttle,
            isOpen: isOpen,
            now: throttleReading(throttle, entry, now: now),
            wanted: isOpen
                ? "no delay"
                : delayedUntil.map { "\(Timestamp.text(unixNanoseconds: $0)) or later" } ?? "",
            since: isOpen ? nil : throttle.changedAt,
            until: isOpen ? nil : delayedUntil,
            remedy: isOpen ? "" : "`bghost throttle clear \(request.task)`",
            condition: "its throttling were cleared",
            ids: isOpen ? [] : throttle.runs.map(\.run)
        )
    }

    private func budgetGate(_ task: Int, now: Moment) -> Gate? {
        let quota = quotaIndex(of: task)
        guard let (used, limit) = gates.budgets.use(quota) else { return nil }
        // A budget whose end has passed is refilled at the next check.
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

    private func requirementGates(_ request: Request, task: Int, now: Moment) -> [Gate] {
        let required = gates.required(by: request, task: task)
        let facts = gates.facts ?? FactSheet(probes: [])
        let unmet = gates.unmet(required).reduce(into: RequirementSet()) {
            $0.formUnion($1.requirement)
        }
        return required.each.map { requirement in
            let fact = facts[requirement]
            let name = requirement.name(probes: facts.probes)
            let isOpen = unmet.isDisjoint(with: requirement)
            let settling = facts.metTime(of: requirement).map { $0.since(now.monotonic) }
            return Gate(
                .requirement,
                name: name,
                isOpen: isOpen,
                now: reading(of: fact, settlesIn: isOpen ? nil : settling),
                wanted: requirement.wanted,
                source: fact.source,
                since: fact.since,
                until: isOpen ? nil : settling.map { now.unix.addingClamped(Int64(clamping: $0)) },
                remedy: isOpen || settling != nil
                    ? ""
                    : fact.source == FactSheet.simulationSource
                        ? "`bghost simulate fact \(name)=real`" : requirement.remedy(name: name),
                condition: "requirement \(name) were met",
                changes: fact.changes
            )
        }
    }

    /// - Parameter rest: how long the reading must stay unchanged until the requirement is met, nanoseconds.
    private func reading(of fact: Fact, settlesIn rest: UInt64?) -> String {
        let reading = fact.reading.isEmpty ? fact.value.word : fact.reading
        guard let rest else { return reading }
        return "settling: \(reading), \(DurationText.of(nanoseconds: rest)) to go"
    }

    // MARK: Other requests and runs

    private func predecessorGate(_ request: Request, _ entry: Int, now: Moment) -> Gate {
        if request.isAppended, !request.isRetry {
            return appendedGate(request, entry, now: now)
        }
        let first = pendingIndex.first(of: entry, now: now.unix)?.id
        let other = first == request.id ? nil : first
        return Gate(
            .predecessor,
            isOpen: other == nil,
            now: other.map { "\($0) goes first" } ?? "none goes first",
            wanted: "no other request of its task before it",
            remedy: other == nil
                ? "" : "`bghost why \(request.task)` shows what that one waits for",
            condition: other.map { "\($0), which goes first, had run" } ?? "",
            ids: other.map { [$0] } ?? []
        )
    }

    private func overlapGate(_ entry: Int) -> Gate {
        let entry = (index: entry, value: pendingIndex.entries[entry])
        let others = running.all.map(\.running).filter { $0.entry == entry.index }
        let isOpen = entry.value.hasRoom
        return Gate(
            .overlap,
            isOpen: isOpen,
            now: others.isEmpty ? "no run in progress" : "in progress: \(names(of: others))",
            wanted: entry.value.overlap == .allow
                ? "nothing; its runs may overlap" : "no run of the task",
            since: others.map(\.begunAt).min(),
            remedy: isOpen || others.isEmpty
                ? "" : "`bghost stop \(others[0].run)` asks that run to stop",
            condition: "the current run of the task had ended",
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
                ? "no run of its handler in progress" : "in progress: \(names(of: others))",
            wanted: rule,
            since: others.map(\.begunAt).min(),
            remedy: isOpen || others.isEmpty
                ? "" : "`bghost stop \(others[0].run)` asks that run to stop",
            condition: "the current run of its handler had ended",
            ids: others.prefix(Gate.idsMax).map(\.run)
        )
    }

    private func slotGate(ahead: Int?) -> Gate {
        let isOpen = hasFreeSlot
        let all = isOpen ? [] : running.all.map(\.running)
        let place = ahead.map { $0 == 1 ? ", 1 request ahead" : ", \($0) requests ahead" } ?? ""
        return Gate(
            .slot,
            isOpen: isOpen,
            now: "\(running.count) of \(settings.slots) in use\(place)",
            wanted: "a free slot",
            // All slots have been in use since the last of these runs started.
            since: all.map(\.begunAt).max(),
            remedy: isOpen
                ? "" : "wait for the end of a run, or raise `slots` in \(settings.manifestPath)",
            condition: "a slot were free for it",
            ids: all.prefix(Gate.idsMax).map(\.run)
        )
    }

    func names(of runs: [RunningTable.Running]) -> String {
        let more = runs.count - Gate.idsMax
        return runs.prefix(Gate.idsMax).map { "\($0.run)" }.joined(separator: ", ")
            + (more > 0 ? " and \(more) more" : "")
    }
}
