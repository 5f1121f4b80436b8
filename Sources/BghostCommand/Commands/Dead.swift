// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal
internal import BghostViews

struct Dead: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: "List dead requests (no longer retried), newest first.",
        discussion: "`bghost redrive` retries them, `bghost discard` deletes them."
    )

    @Argument(help: ArgumentHelp("Only requests of this task.", valueName: "id"))
    var task: String?

    @Option(help: ArgumentHelp("At most this many.", valueName: "n"))
    var limit = 100

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...ControlLimits.deadLettersMax).contains(limit) else {
            throw ValidationError("--limit must be from 1 to \(ControlLimits.deadLettersMax)")
        }
    }

    func run() async throws {
        try await ask { client, console in
            let answer = try await client.deadLetters(task: task, limit: limit)
            guard !output.json else { return console.answer(json: answer.json) }
            console.answer(DeadView(letters: answer.value, now: unixNow()).text(console.out))
        }
    }
}
