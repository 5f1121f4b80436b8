// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal
internal import BghostViews

struct Pending: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending",
        abstract: "List pending requests, and what each waits for.",
        discussion: "Retries and manual runs are listed too."
    )

    @Argument(help: ArgumentHelp("Only requests of this task.", valueName: "id"))
    var task: String?

    @Option(help: ArgumentHelp("At most this many.", valueName: "n"))
    var limit = 1000

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...ControlLimits.pendingMax).contains(limit) else {
            throw ValidationError("--limit must be from 1 to \(ControlLimits.pendingMax)")
        }
    }

    func run() async throws {
        try await ask { client, console in
            let answer = try await client.pending(task: task, limit: limit)
            guard !output.json else { return console.answer(json: answer.json) }
            console.answer(PendingView(list: answer.value, now: unixNow()).text(console.out))
        }
    }
}
