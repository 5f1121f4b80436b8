// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import BghostControl

struct Runs: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "runs",
        abstract: "List runs, the newest first."
    )

    @Argument(help: ArgumentHelp("Only runs of this task.", valueName: "id"))
    var task: String?

    @Option(help: ArgumentHelp("At most this many.", valueName: "n"))
    var limit = 20

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...ControlLimits.runsMax).contains(limit) else {
            throw ValidationError("--limit must be from 1 to \(ControlLimits.runsMax)")
        }
    }

    func run() async throws {
        try await ask { client, console in
            let answer = try await client.runs(task: task, limit: limit)
            guard !output.json else { return console.answer(json: answer.json) }
            console.answer(RunsView(runs: answer.value, now: unixNow()).text(console.out))
        }
    }
}
