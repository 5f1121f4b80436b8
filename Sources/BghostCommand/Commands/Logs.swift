// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostModel
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal
internal import BghostViews

struct Logs: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs",
        abstract: "Show the log of the daemon, a task or a run.",
        discussion: "With --json and --follow each line is an object of its own."
    )

    @Argument(
        help: ArgumentHelp(
            "Only this task, or this run by the beginning of its id.",
            valueName: "id|run"
        )
    )
    var subject: String?

    @Flag(name: [.short, .long], help: "Go on with each new line until Ctrl-C.")
    var follow = false

    @Option(help: ArgumentHelp("Only lines of at least this level.", valueName: "level"))
    var level: LevelName?

    @Option(help: ArgumentHelp("Only lines of this plugin.", valueName: "name"))
    var plugin: String?

    @Option(help: ArgumentHelp("At most this many lines from before.", valueName: "n"))
    var limit: Int?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (0...ControlLimits.logLinesMax).contains(limit ?? 0) else {
            throw ValidationError("--limit must be from 0 to \(ControlLimits.logLinesMax)")
        }
    }

    func run() async throws {
        try await ask { client, console in
            var query = ControlClient.LogQuery(
                plugin: plugin,
                level: level?.level,
                limit: limit ?? (follow ? 20 : 200)
            )
            if let subject {
                if try await Self.isRun(subject, client) {
                    query.run = subject
                } else {
                    query.task = subject
                }
            }
            if follow {
                try await client.followLogs(query) { print($0.value, $0.json, console) }
            } else {
                let answer = try await client.logs(query)
                guard !output.json else { return console.answer(json: answer.json) }
                console.answer(
                    verbatim: answer.value.map { LogView.line($0, console.out) }.joined()
                )
            }
        }
    }

    private func print(_ entry: LogEntry, _ json: String, _ console: Console) {
        if output.json {
            console.answer(json: json)
        } else {
            console.answer(verbatim: LogView.line(entry, console.out))
        }
    }

    /// Whether the subject is a prefix of a run's id; the name of a task takes precedence.
    private static func isRun(_ subject: String, _ client: ControlClient) async throws -> Bool {
        guard subject.first?.isNumber == true, canBeginRunID(subject) else { return false }
        do {
            try await client.requireTask(subject)
            return false
        } catch let fault as ControlFault where fault.code == .noSuchTask {
            return true
        }
    }

    private static func canBeginRunID(_ text: String) -> Bool {
        guard (1...26).contains(text.utf8.count) else { return false }
        return RunID(text + String(repeating: "0", count: 26 - text.utf8.count)) != nil
    }
}
