// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import BghostAPI
internal import BghostCommandLine
internal import BghostControl
internal import BghostTerminal

struct CheckpointCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "checkpoint",
        abstract: "Delete the checkpoint of a request.",
        discussion: """
            A run can save a checkpoint, with which the next attempt of its request goes on. It ends with \
            the request: when a run succeeds, when the request is withdrawn, or when its dead letter is \
            discarded. `bghost show RUN` shows whether a request has one.
            """,
        subcommands: [Delete.self]
    )

    struct Delete: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete the checkpoint of a request; its next attempt begins from the start."
        )

        @Argument(
            help: ArgumentHelp("The request's id, or the beginning of it.", valueName: "request")
        )
        var request: String

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await ask { client, console in
                let answer = try await client.deleteCheckpoint(ofRequest: request)
                guard !output.json else { return console.answer(json: answer.json) }
                let deleted = answer.value
                console.answer(
                    "deleted the checkpoint of \(deleted.request), a request of"
                        + " \(TerminalText.escaped(deleted.task)), saved by attempt"
                        + " \(deleted.checkpoint.attempt)\n"
                )
            }
        }
    }
}
