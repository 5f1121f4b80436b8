// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal

struct Stop: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Ask a run, or all runs of a task or of a tag, to stop; do not retry them.",
        discussion: """
            A run has its grace to end, and is killed after it. Unlike expire this is nothing \
            that its handler could be blamed for: it delays no later run.

            --task and --tag stop the runs that are under way now. Requests that wait start later as \
            they would have: cancel withdraws them, before this, and pause holds them back.
            """
    )

    @Argument(
        help: ArgumentHelp("The run's id, or the beginning of it.", valueName: "run"),
        completion: .runIDs
    )
    var run: String?

    @Option(
        help: ArgumentHelp("All runs of this task.", valueName: "id"),
        completion: .taskNames
    )
    var task: String?

    @Option(
        help: ArgumentHelp("All runs of tasks that have this tag now.", valueName: "name"),
        completion: .tagNames
    )
    var tag: String?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        let given = [run, task, tag].compactMap { $0 }
        // An empty value, as of a variable that is not set, must not select anything.
        guard given.count == 1, given != [""] else {
            throw ValidationError("name one run, or give --task or --tag")
        }
    }

    func run() async throws {
        try await ask { client, console in
            guard let run else {
                let stopped = try await client.stopRuns(task: task, tag: tag)
                let answer = API.StoppedRuns(runs: stopped)
                guard !output.json else {
                    return console.answer(json: APICoder.text(Schema.stoppedRuns, answer))
                }
                guard !stopped.isEmpty else { return console.answer("no run was under way\n") }
                return console.answer(stopped.map(Self.text).joined())
            }
            let answer = try await client.stop(run: run)
            guard !output.json else { return console.answer(json: answer.json) }
            console.answer(Self.text(answer.value))
        }
    }

    private static func text(_ run: API.CancelledRun) -> String {
        let task = TerminalText.escaped(run.task)
        guard run.graceSeconds > .zero else {
            return "run \(run.run) of \(task) had not begun and has ended; it is not repeated\n"
        }
        let grace = HumanText.duration(run.graceSeconds)
        return "run \(run.run) of \(task) was asked to stop and has \(grace) for it;"
            + " it is not repeated\n"
    }
}
