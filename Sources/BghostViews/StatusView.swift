// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostModel
package import BghostTerminal

/// The text output of `bghost status`.
package struct StatusView {
    package let status: HostStatus
    /// The time of the daemon's clock, which dates refer to, Unix nanoseconds.
    private let now: Int64
    /// The time of the machine's clock, Unix nanoseconds.
    private let machineNow: Int64

    /// Whether only problems and the tasks that have one are shown.
    private let isFailing: Bool

    /// - Parameters:
    ///   - now: the time of the machine's clock, Unix nanoseconds.
    ///   - isFailing: whether only problems and the tasks that have one are shown.
    package init(status: HostStatus, now: Int64, isFailing: Bool = false) {
        self.status = status
        self.isFailing = isFailing
        machineNow = now
        let (simulated, overflow) = now.addingReportingOverflow(status.simulation.clockOffset)
        self.now = overflow ? now : simulated
    }

    package func text(_ style: Style) -> String {
        var table = TextTable(header: [" ", "TASK", "KIND", "STATE", "LAST", "NEXT", "WHY"])
        if isFailing {
            guard !status.problems.isEmpty else { return head + "nothing fails\n" }
            for task in status.failingTasks { table.add(row(task, style)) }
            return head + problems(style) + table.text(style)
        }
        for task in status.tasks { table.add(row(task, style)) }
        let tasks = status.tasks.isEmpty ? "no tasks\n" : table.text(style)
        return head + problems(style) + PauseView(pauses: status.pauses, now: now).lines(style)
            + devBanner(style)
            + SimulationView(status.simulation).banner(style) + transfers + tasks + omitted
            + plugins(style)
    }

    /// The problems that an operator should resolve.
    private func problems(_ style: Style) -> String {
        status.problems.map { problem in
            "\(style.painted(.bad)) \(TerminalText.escaped(problem.message))\n"
        }.joined()
    }

    private func devBanner(_ style: Style) -> String {
        guard status.allowsUntrustedFiles else { return "" }
        let replaced = status.developmentPlugins.map(TerminalText.escaped)
        let more =
            replaced.isEmpty
            ? ""
            : ", and other libraries than the manifest's for \(replaced.joined(separator: ", "))"
        return style.painted(
            "! started with --dev: bghost accepts files that other users could change\(more)",
            .warning
        ) + "\n"
    }

    private var head: String {
        let uptime = HumanText.duration(.nanoseconds(max(0, machineNow - status.startedAt)))
        let name = "bghost \(TerminalText.escaped(status.version)), process \(status.pid)"
        return "\(name), up \(uptime), \(status.slotsInUse) of \(status.slots) slots in use"
            + (status.isDraining ? ", draining\n" : "\n")
    }

    private var transfers: String {
        let counts = status.transfers
        guard counts != TransferCounts() else { return "" }
        let ended = counts.ended > 0 ? ", \(counts.ended) ended and not acknowledged" : ""
        let noun = counts.underWay == 1 ? "transfer" : "transfers"
        return "\(counts.underWay) \(noun) in progress\(ended); `bghost transfers` lists them\n"
    }

    private var omitted: String {
        guard status.tasksOmitted > 0 else { return "" }
        let noun = status.tasksOmitted == 1 ? "identifier" : "identifiers"
        return "\(status.tasksOmitted) more \(noun) of families; `bghost status ID` shows one,"
            + " `bghost pending` what waits\n"
    }

    private func row(_ task: TaskStatus, _ style: Style) -> [TextTable.Cell] {
        let mark = mark(task)
        return [
            .init(style.text(mark), style.tone(mark)),
            .init(TerminalText.escaped(task.identifier)),
            .init(task.kind.rawValue),
            .init(state(task)),
            .init(last(task), task.last.flatMap { style.tone($0.mark) }),
            .init(next(task)),
            .init(why(task), .dim),
        ]
    }

    /// The sign of a task: waiting is healthy, so only a task that needs the operator has a bad sign.
    private func mark(_ task: TaskStatus) -> Style.Mark {
        if task.isFailing || task.deadLetters > 0 { return .bad }
        if let pending = task.pending {
            if pending.outlook?.needsAttention == true { return .warning }
            return task.pause == nil ? task.last?.mark ?? .good : .warning
        }
        if task.pause != nil { return .warning }
        return task.last?.mark ?? .none
    }

    private func state(_ task: TaskStatus) -> String {
        guard let run = task.running.first else { return task.state }
        let count = task.running.count > 1 ? "\(task.running.count) x " : ""
        return "\(count)\(run.standing) \(run.elapsed(now: now))"
    }

    private func last(_ task: TaskStatus) -> String {
        guard let run = task.last else { return "" }
        let ago = run.endedAt.map { " " + HumanText.time($0, now: now) } ?? ""
        let elapsed = run.elapsed(now: now)
        return run.standing + ago + (elapsed.isEmpty ? "" : ", \(elapsed)")
    }

    /// When the pending request can start, if it is known.
    private func next(_ task: TaskStatus) -> String {
        guard let pending = task.pending else { return "" }
        guard let outlook = pending.outlook else {
            return pending.earliestBegin.map { HumanText.time(max($0, now), now: now) } ?? "now"
        }
        guard let start = outlook.earliest else { return "never" }
        guard start > now else { return outlook.isCertain ? "now" : "unknown" }
        return HumanText.time(start, now: now) + (outlook.isCertain ? "" : " or later")
    }

    private func why(_ task: TaskStatus) -> String {
        if let waiting = task.pending?.waitingFor, !waiting.isEmpty {
            return TerminalText.escaped(waiting.joined(separator: "; "))
        }
        if let run = task.running.first { return run.progressText }
        guard let last = task.last, last.mark != .good else { return "" }
        return last.message.isEmpty ? "bghost show \(last.id)" : last.safeMessage
    }

    /// Notes on plugins that differ from the normal state.
    private func plugins(_ style: Style) -> String {
        status.plugins.map { plugin in
            let name = TerminalText.escaped(plugin.name)
            var text = ""
            if let reason = plugin.switchedOff {
                let why = reason.isEmpty ? "" : ": " + TerminalText.escaped(reason)
                text += "\(style.painted(.warning)) plugin \(name) is switched off\(why)\n"
            }
            if let ends = plugin.idleEnds {
                text +=
                    "\(style.painted(.warning)) plugin \(name): a worker was ended"
                    + " \(HumanText.time(ends.last, now: now)): outside of runs it"
                    + " \(TerminalText.escaped(ends.reason))\(times(ends))\n"
            }
            let missing = plugin.sandbox.filter { $0.state == .missing }
            if !missing.isEmpty {
                let names = missing.map(\.layer.rawValue).joined(separator: ", ")
                text +=
                    "\(style.painted(.warning)) plugin \(name) runs without \(names);"
                    + " `bghost doctor` shows why\n"
            }
            if let change = plugin.change {
                text +=
                    "\(style.painted(.warning)) plugin \(name): \(TerminalText.escaped(change))\n"
            }
            return text
        }.joined()
    }

    /// The number of ends, if there was more than one.
    private func times(_ ends: IdleWorkerEnds) -> String {
        guard ends.count > 1 else { return "" }
        return "; \(ends.count) times, first \(HumanText.time(ends.since, now: now))"
    }
}
