// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal
internal import BghostViews

struct Show: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one run in full."
    )

    @Argument(
        help: ArgumentHelp("The run's id, or the beginning of it.", valueName: "run"),
        completion: .runIDs
    )
    var run: String

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await ask { client, console in
            let answer = try await client.run(run)
            guard !output.json else { return console.answer(json: answer.json) }
            let view = RunView(run: answer.value, now: unixNow())
            console.answer(view.text(console.out))
            console.answer(verbatim: view.output)
        }
    }
}
