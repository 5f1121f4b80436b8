// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostRecords

/// `bghost status` for people.
package struct StatusView {
    package let status: HostStatus
    /// What the daemon's clock shows, Unix nanoseconds: dates are told by it.
    private let now: Int64
    /// What the machine's shows.
    private let machineNow: Int64

    /// - Parameter now: what the machine's clock shows, Unix nanoseconds.
    package init(status: HostStatus, now: Int64) {
        self.status = status
        machineNow = now
        let (simulated, overflow) = now.addingReportingOverflow(status.simulation.clockOffset)
        self.now = overflow ? now : simulated
    }

    package func text(_ style: Style) -> String {
        var table = TextTable(header: [" ", "TASK", "KIND", "STATE", "LAST", "NEXT", "WHY"])
        for task in status.tasks { table.add(row(task, style)) }
        let tasks = status.tasks.isEmpty ? "no tasks\n" : table.text(style)
        return head + devBanner(style) + SimulationView(status.simulation).banner(style) + tasks
            + problems(style)
    }

    private func devBanner(_ style: Style) -> String {
        guard status.isLax else { return "" }
        return style.painted(
            "! started with --dev: it takes files that other users could change",
            .warning
        ) + "\n"
    }

    private var head: String {
        let busy = status.tasks.reduce(0) { $0 + $1.running.count }
        let uptime = HumanText.duration(.nanoseconds(max(0, machineNow - status.startedAt)))
        let name = "bghost \(TerminalText.escaped(status.version)), process \(status.pid)"
        return "\(name), up \(uptime), \(busy) of \(status.slots) slots busy"
            + (status.isDraining ? ", draining\n" : "\n") + transfers
    }

    private var transfers: String {
        let counts = status.transfers
        guard counts != TransferCounts() else { return "" }
        let ended = counts.ended > 0 ? ", \(counts.ended) ended and not dealt with" : ""
        return "\(counts.underWay) transfers under way\(ended); bghost transfers lists them\n"
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

    private func mark(_ task: TaskStatus) -> Style.Mark {
        if task.last?.mark == .bad { return .bad }
        if task.pending?.waitingFor.isEmpty == false { return .warning }
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

    private func next(_ task: TaskStatus) -> String {
        guard let pending = task.pending else { return "" }
        guard let earliest = pending.earliestBegin, earliest > now else { return "now" }
        return HumanText.time(earliest, now: now)
    }

    private func why(_ task: TaskStatus) -> String {
        if let waiting = task.pending?.waitingFor, !waiting.isEmpty {
            return TerminalText.escaped(waiting.joined(separator: "; "))
        }
        if let run = task.running.first { return run.progressText }
        guard let last = task.last, last.mark != .good else { return "" }
        return last.message.isEmpty ? "bghost show \(last.id)" : last.safeMessage
    }

    private func problems(_ style: Style) -> String {
        status.plugins.map { plugin in
            let name = TerminalText.escaped(plugin.name)
            var text = ""
            if let reason = plugin.switchedOff {
                let why = reason.isEmpty ? "" : ": " + TerminalText.escaped(reason)
                text += "\(style.painted(.warning)) plugin \(name) is switched off\(why)\n"
            }
            let missing = plugin.sandbox.filter { $0.state == .missing }
            if !missing.isEmpty {
                let names = missing.map(\.layer.rawValue).joined(separator: ", ")
                text +=
                    "\(style.painted(.warning)) plugin \(name) runs without \(names);"
                    + " `bghost doctor` says why\n"
            }
            if let problem = plugin.problem {
                text += "\(style.painted(.bad)) plugin \(name): \(TerminalText.escaped(problem))\n"
            }
            return text
        }.joined()
    }
}
