// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
package import BghostModel
package import BghostTerminal

/// The text output for one run, in full or in one line.
package struct RunView {
    package let run: RunRecord
    /// Unix nanoseconds.
    package let now: Int64

    package init(run: RunRecord, now: Int64) {
        self.run = run
        self.now = now
    }

    /// The end of a run that the command waited for, with its result.
    package func summary(_ style: Style) -> String {
        let task = TerminalText.escaped(run.task)
        let elapsed = run.elapsed(now: now)
        var text =
            "\(style.painted(run.mark)) \(task) \(style.painted(run.standing, style.tone(run.mark)))"
        text += elapsed.isEmpty ? "\n" : " in \(elapsed)\n"
        if !run.message.isEmpty { text += "  \(run.safeMessage)\n" }
        if let error = run.details?.error {
            text += "  \(style.painted(TerminalText.escaped(error.sentence), .dim))\n"
        }
        if !run.result.isEmpty { text += "  \(TerminalText.escapedJSON(run.result))\n" }
        return text
    }

    /// Where a worker crashed, and what the run cost.
    package func remarks(_ style: Style) -> String {
        let wanted = ["crashed at", "accessed", "processor", "memory"]
        return table(facts.filter { wanted.contains($0.name) }, style) + stacks
    }

    package func text(_ style: Style) -> String {
        table(facts, style) + stacks
    }

    private func table(_ facts: [Fact], _ style: Style) -> String {
        let shown = facts.filter { !$0.value.isEmpty }
        let width = shown.map { $0.name.utf8.count }.max() ?? 0
        return shown.map { fact in
            let name = DisplayWidth.padded(fact.name, to: width)
            return "\(style.painted(name, .dim))  \(style.painted(fact.value, fact.tone))\n"
        }.joined()
    }

    /// The stacks of threads, the innermost call first.
    private var stacks: String {
        (run.details?.crash?.stacks ?? []).map { stack in
            let frames = stack.frames.map { "  \(TerminalText.escaped($0))\n" }.joined()
            return "\nthread \(TerminalText.escaped(stack.thread))\n\(frames)"
        }.joined()
    }

    /// The last output of the run; each line is escaped, so that it cannot control the terminal.
    package var output: String {
        guard let output = run.details?.output, !output.isEmpty else { return "" }
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        return "\n" + lines.map { "\(TerminalText.escaped(String($0)))\n" }.joined()
    }

    private var plugin: String {
        let version = run.origin.map { " \($0.version)" } ?? ""
        return TerminalText.escaped(run.plugin + version)
    }

    private static func digest(_ text: String) -> String { text.isEmpty ? "" : "sha256:\(text)" }

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
            Fact("plugin", plugin),
            Fact("library", run.origin.map { Self.digest($0.library) } ?? ""),
            Fact("manifest", run.origin.map { Self.digest($0.manifest) } ?? ""),
            Fact("kind", run.kind?.rawValue ?? ""),
            Fact("outcome", run.standing, look.tone(run.mark)),
            Fact("stopped", run.stopReason?.text ?? ""),
            Fact("message", run.safeMessage),
            Fact("error", TerminalText.escaped(run.details?.error?.sentence ?? "")),
            Fact("crashed at", TerminalText.escaped(run.details?.crash?.place ?? "")),
            Fact("accessed", TerminalText.escaped(run.details?.crash?.address ?? "")),
            Fact("result", TerminalText.escapedJSON(run.result)),
            Fact("progress", run.progressText),
            Fact("checkpoint", checkpoint),
            Fact("attempt", run.attempt > 1 ? "\(run.attempt)" : ""),
            Fact("submitted", moment(run.submittedAt)),
            Fact("by run", run.submitterRun?.description ?? ""),
            Fact("started", started),
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
            Fact("trace", run.trace.map(trace) ?? ""),
        ]
    }

    private var checkpoint: String {
        guard let saved = run.details?.checkpoint else { return "" }
        return CheckpointsView.clause(
            bytes: saved.length,
            attempt: saved.attempt,
            savedAt: saved.savedAt,
            now: now
        )
    }

    private func trace(_ trace: RunTrace) -> String {
        let context = trace.context
        return "\(context.traceID), span \(context.spanID)"
            + (context.isSampled ? "" : ", not sampled")
    }

    private var started: String {
        if let startedAt = run.startedAt { return moment(startedAt) }
        guard run.state == .ended else { return "not yet" }
        // The start is stored together with the end, which is missing if the daemon died.
        return run.outcome == .lost ? "unknown" : "never"
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
