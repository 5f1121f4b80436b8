// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal

struct Stop: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Ask a run to stop; do not retry it.",
        discussion: """
            The run has its grace to end, and is killed after it. Unlike expire this is nothing \
            that its handler could be blamed for: it delays no later run.
            """
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
            let answer = try await client.stop(run: run)
            guard !output.json else { return console.answer(json: answer.json) }
            let grace = HumanText.duration(answer.value.graceSeconds)
            console.answer(
                "run \(answer.value.run) of \(TerminalText.escaped(answer.value.task)) was asked to "
                    + "stop and has \(grace) for it; it is not repeated\n"
            )
        }
    }
}
