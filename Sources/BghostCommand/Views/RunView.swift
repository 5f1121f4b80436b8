// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostRecords

/// One run for people: all of it, or in one line.
package struct RunView {
    package let run: RunRecord
    /// Unix nanoseconds.
    package let now: Int64

    package init(run: RunRecord, now: Int64) {
        self.run = run
        self.now = now
    }

    /// The end of a run that was waited for, with what it brought.
    package func summary(_ style: Style) -> String {
        let task = TerminalText.escaped(run.task)
        let elapsed = run.elapsed(now: now)
        var text =
            "\(style.painted(run.mark)) \(task) \(style.painted(run.standing, style.tone(run.mark)))"
        text += elapsed.isEmpty ? "\n" : " in \(elapsed)\n"
        if !run.message.isEmpty { text += "  \(run.safeMessage)\n" }
        if !run.result.isEmpty { text += "  \(TerminalText.escapedJSON(run.result))\n" }
        return text
    }

    package func text(_ style: Style) -> String {
        let width = facts.map { $0.name.utf8.count }.max() ?? 0
        return facts.filter { !$0.value.isEmpty }.map { fact in
            let name = DisplayWidth.padded(fact.name, to: width)
            return "\(style.painted(name, .dim))  \(style.painted(fact.value, fact.tone))\n"
        }.joined()
    }

    private struct Fact {
        var name: String
        var value: String
        var tone: Style.Tone?

        init(_ name: String, _ value: String, _ tone: Style.Tone? = nil) {
            self.name = name
            self.value = value
            self.tone = tone
        }
    }

    private var facts: [Fact] {
        let look = Style(hasColor: true, hasUnicode: true)
        return [
            Fact("run", run.id.description),
            Fact("request", run.request.description),
            Fact("task", TerminalText.escaped(run.task)),
            Fact("plugin", TerminalText.escaped(run.plugin)),
            Fact("outcome", run.standing, look.tone(run.mark)),
            Fact("stopped", run.stopReason?.text ?? ""),
            Fact("message", run.safeMessage),
            Fact("result", TerminalText.escapedJSON(run.result)),
            Fact("progress", run.progressText),
            Fact("attempt", run.attempt > 1 ? "\(run.attempt)" : ""),
            Fact("submitted", moment(run.submittedAt)),
            Fact("started", run.startedAt.map(moment) ?? "never"),
            Fact("ended", run.endedAt.map(moment) ?? ""),
            Fact("time", time),
            Fact("processor", run.usage.cpu.map(HumanText.duration) ?? ""),
            Fact(
                "memory",
                run.usage.peakMemoryBytes.map { HumanText.bytes($0) + " at its peak" } ?? ""
            ),
            Fact(
                "output",
                run.usage.outputBytes > 0 ? HumanText.bytes(UInt64(run.usage.outputBytes)) : ""
            ),
            Fact("process", run.pid.map(String.init) ?? ""),
        ]
    }

    private var time: String {
        let elapsed = run.elapsed(now: now)
        let limits =
            "\(HumanText.duration(run.limits.runtime)) and \(HumanText.duration(run.limits.grace)) of grace"
        return elapsed.isEmpty ? "" : "\(elapsed) of \(limits)"
    }

    private func moment(_ time: Int64) -> String {
        "\(Timestamp.text(unixNanoseconds: time)), \(HumanText.time(time, now: now))"
    }
}
