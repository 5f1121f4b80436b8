// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import BghostAPI
internal import BghostCommandLine
internal import BghostControl
internal import BghostTerminal
internal import BghostViews

struct CheckpointCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "checkpoints",
        abstract: "List and delete checkpoints.",
        discussion: """
            A run can save a checkpoint, with which the next attempt of its request goes on. It ends with \
            the request: when a run succeeds, when the request is withdrawn, or when its dead letter is \
            discarded. `bghost show RUN` and `bghost why REQUEST` show that of one request.
            """,
        subcommands: [List.self, Delete.self],
        defaultSubcommand: List.self,
        aliases: ["checkpoint"]
    )

    struct List: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract:
                "List the checkpoints that requests have, those of the newest requests first.",
            discussion: """
                Their bytes are not shown. All conditions that are given must hold. A page that does not \
                have all of them ends with the cursor for the next one.
                """
        )

        @Option(
            help: ArgumentHelp(
                "Only of this task, or of all that begin like this (com.example.*).",
                valueName: "id"
            ),
            completion: .taskNames
        )
        var task: String?

        @Option(
            help: ArgumentHelp("Only what handlers of this plugin saved.", valueName: "name"),
            completion: .pluginNames
        )
        var plugin: String?

        @OptionGroup var page: PageOptions

        @Option(help: ArgumentHelp("At most this many.", valueName: "n"))
        var limit = 100

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (1...ControlLimits.checkpointsMax).contains(limit) else {
                throw ValidationError("--limit must be from 1 to \(ControlLimits.checkpointsMax)")
            }
        }

        func run() async throws {
            try await ask { client, console in
                let answer = try await client.checkpoints(
                    task: task,
                    plugin: plugin,
                    cursor: page.cursor,
                    limit: limit
                )
                guard !output.json else { return console.answer(json: answer.json) }
                let (found, next) = (answer.value.checkpoints, answer.value.next)
                console.answer(
                    CheckpointsView(found, next: next, now: unixNow()).text(console.out)
                )
            }
        }
    }

    struct Delete: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete the checkpoint of a request; its next attempt begins from the start.",
            discussion: """
                A run in progress keeps what it has loaded, and may save another checkpoint: delete that \
                after its end.
                """
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
