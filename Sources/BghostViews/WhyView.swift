// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
internal import BghostFacts
internal import BghostModel
package import BghostTerminal

/// The text output of `bghost why`.
package struct WhyView {
    package let answer: TaskExplanation

    package init(answer: TaskExplanation) {
        self.answer = answer
    }

    /// The time of the daemon's clock, which may be simulated.
    private var now: Int64 { answer.at }

    package func text(_ style: Style) -> String {
        var parts = answer.requests.map { request($0, style) }
        let others = answer.total - answer.requests.count
        if others > 0 {
            parts.append("and \(others) more \(others == 1 ? "request" : "requests")\n")
        }
        parts.append(task(style))
        return SimulationView(answer.simulation).banner(style) + parts.joined(separator: "\n")
    }

    // MARK: A request

    private func request(_ explanation: Explanation, _ style: Style) -> String {
        let request = explanation.request
        var head = style.painted(TerminalText.escaped(request.task), .strong)
        head += " " + TerminalText.escaped(verdict(explanation)) + "\n"
        head += "request \(request.id), submitted \(ago(request.submittedAt))"
        if request.attempt > 1 { head += ", attempt \(request.attempt)" }
        if request.isManual { head += ", triggered" }
        if let run = request.submitter.run { head += ", by run \(run)" }
        return head + "\n" + checkpoint(of: request) + table(explanation, style)
            + history(explanation, style)
            + conclusion(explanation, style)
    }

    /// What its next run goes on from.
    private func checkpoint(of request: PendingRequest) -> String {
        guard let saved = answer.checkpoints[request.id] else { return "" }
        let clause = CheckpointsView.clause(
            bytes: saved.bytes,
            attempt: saved.attempt,
            savedAt: saved.savedAt,
            now: now
        )
        return "checkpoint: \(clause); `bghost checkpoints delete \(request.id)` deletes it\n"
    }

    /// What to look at first: the gate that needs action, otherwise the one that unblocks last.
    private func verdict(_ explanation: Explanation) -> String {
        guard let blocker = explanation.blocker else { return "starts: nothing blocks it" }
        let others = explanation.closed.count - 1
        let more = others > 0 ? " (and \(others) more unmet \(others == 1 ? "gate" : "gates"))" : ""
        if let until = blocker.until {
            return "waits for \(blocker.label), which unblocks \(ago(until))\(more)"
        }
        return "waits for \(blocker.label): \(blocker.now)"
            + (blocker.remedy.isEmpty ? "" : "; to unblock: \(blocker.remedy)") + more
    }

    private func table(_ explanation: Explanation, _ style: Style) -> String {
        var table = TextTable(header: [" ", "GATE", "NOW", "NEEDS", "SINCE", "OPENS"])
        for gate in explanation.closed + explanation.gates.filter(\.isOpen) {
            let mark: Style.Mark = gate.isOpen ? .good : .warning
            let source = gate.source.isEmpty ? "" : " (\(gate.source))"
            table.add([
                .init(style.text(mark), style.tone(mark)),
                .init(TerminalText.escaped(gate.label), gate.isOpen ? nil : .strong),
                .init(TerminalText.escaped(gate.now + source)),
                .init(TerminalText.escaped(gate.wanted)),
                .init(gate.since.map(ago) ?? ""),
                .init(gate.isOpen ? "" : gate.until.map(ago) ?? ""),
            ])
        }
        return table.text(style) + remedies(explanation)
    }

    private func remedies(_ explanation: Explanation) -> String {
        explanation.closed.filter { !$0.remedy.isEmpty }.map { gate in
            TerminalText.escaped("  to unblock \(gate.label): \(gate.remedy)") + "\n"
        }.joined()
    }

    /// The earlier values of unmet gates.
    private func history(_ explanation: Explanation, _ style: Style) -> String {
        explanation.closed.filter { $0.changes.count > 1 }.map { gate in
            let changes = gate.changes.map { change in
                "\(change.value.word) \(ago(change.at)) (\(change.reading))"
            }
            let line = "  \(gate.label) was: \(changes.joined(separator: ", "))"
            return style.painted(TerminalText.escaped(line), .dim) + "\n"
        }.joined()
    }

    private func conclusion(_ explanation: Explanation, _ style: Style) -> String {
        var lines: [String] = []
        if let counterfactual = explanation.counterfactual {
            lines.append("It \(counterfactual).")
        }
        switch explanation.earliestStart {
        case nil:
            lines.append("It can no longer start.")
        case let start? where explanation.closed.isEmpty:
            lines.append("Nothing blocks it: it starts \(ago(start)).")
        case let start?:
            let date = "\(ago(start)), at \(Timestamp.text(unixNanoseconds: start))"
            if explanation.isCertain {
                lines.append("It starts \(date), as things stand.")
            } else if start > now {
                lines.append("It starts no earlier than \(date); no start time can be predicted.")
            } else {
                lines.append("No start time can be predicted.")
            }
        }
        return lines.map { TerminalText.escaped($0) + "\n" }.joined()
    }

    // MARK: The task

    private func task(_ style: Style) -> String {
        var text = ""
        let name = TerminalText.escaped(answer.task)
        for run in answer.running {
            text += "\(name) runs: \(run.id), \(run.standing) \(run.elapsed(now: now))\n"
        }
        if answer.requests.isEmpty {
            text += "\(style.painted(name, .strong)): no pending request"
            text += answer.running.isEmpty ? "; \(advice(name))\n" : "\n"
            // A request has a gate for them.
            for pause in answer.pauses {
                let command = TerminalText.escaped(pause.target.resumeCommand)
                text += "\(style.painted(.warning)) paused "
                text += TerminalText.escaped(pause.clause(of: answer.task))
                text += ", \(ago(pause.since)); `\(command)` ends the pause\n"
            }
        }
        if !answer.place.isEmpty { text += "fleet: \(TerminalText.escaped(answer.place))\n" }
        if let last = answer.last {
            let message = last.message.isEmpty ? "" : ": \(last.safeMessage)"
            let end = last.endedAt.map { " \(ago($0))" } ?? ""
            text += "last run: \(style.painted(last.mark)) \(last.standing)\(end)\(message)"
            text += " (`bghost show \(last.id)`)\n"
        } else if answer.running.isEmpty {
            text += "last run: none yet\n"
        }
        if let dead = answer.dead {
            text += "dead letter: \(TerminalText.escaped(dead.reason)) \(ago(dead.diedAt))"
            text += "; `bghost redrive \(dead.request.id)` tries it again\n"
        }
        if let schedule = answer.schedule {
            let next = schedule.next.map {
                "next \(ago($0)), at \(Timestamp.text(unixNanoseconds: $0))"
            }
            text += "schedule: \(TerminalText.escaped(schedule.text)), "
            text += (next ?? "no further start") + "\n"
        }
        return text
    }

    /// The command that requests a run; the pattern of a family is not an identifier that can be submitted.
    private func advice(_ name: String) -> String {
        guard let family = IdentifierPattern(answer.task), family.isFamily else {
            return "`bghost submit \(name)` requests a run"
        }
        return "`bghost submit \(name.dropLast())NAME` requests a run of one of its tasks"
    }

    private func ago(_ time: Int64) -> String { HumanText.time(time, now: now) }
}
