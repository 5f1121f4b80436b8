// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import BghostControl

struct Cancel: ClientCommand {
    static let configuration = CommandConfiguration(
        abstract: "Withdraw the pending request of a task.",
        discussion: "A run under way is not touched: that is what expire is for."
    )

    @Argument(help: ArgumentHelp("The task.", valueName: "id"))
    var task: String

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await ask { client, console in
            let answer = try await client.cancelPending(task: task)
            guard !output.json else { return console.answer(json: answer.json) }
            console.answer(
                "the pending request of \(TerminalText.escaped(answer.value)) is withdrawn\n"
            )
        }
    }
}
