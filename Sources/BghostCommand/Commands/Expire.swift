// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal

struct Expire: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "expire",
        abstract: "Expire a run: end its runtime now.",
        discussion: """
            What Apple's debugger does with _simulateExpirationForTaskWithIdentifier. The run has \
            its grace to end, and is killed after it.
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
            let answer = try await client.expire(run: run)
            guard !output.json else { return console.answer(json: answer.json) }
            let run = "run \(answer.value.run) of \(TerminalText.escaped(answer.value.task))"
            guard answer.value.graceSeconds > .zero else {
                return console.answer("\(run) had not begun and has ended\n")
            }
            let grace = HumanText.duration(answer.value.graceSeconds)
            console.answer("\(run) was told to stop and has \(grace) for it\n")
        }
    }
}
