// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal
internal import BghostViews

struct Uses: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "uses",
        abstract: "Show or record when the results of tasks are used.",
        discussion: """
            A task with "learnsUse" begins, within its tolerance, half an hour before a usual use: a \
            half hour of the day with a use on at least half of the last 14 days, three at the \
            least. Uses are said by `bghost uses add`, or by the answer to a notification of its \
            plugin.
            """,
        subcommands: [Show.self, Add.self, Clear.self],
        defaultSubcommand: Show.self
    )

    struct Show: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show what has been learned."
        )

        @Argument(
            help: ArgumentHelp("Only this task.", valueName: "id"),
            completion: .taskNames
        )
        var task: String?

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await ask { client, console in
                let answer = try await client.uses(task: task)
                guard !output.json else { return console.answer(json: answer.json) }
                console.answer(UsesView(uses: answer.value).text(console.out))
            }
        }
    }

    struct Add: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Record that the results of a task are used now."
        )

        @Argument(
            help: ArgumentHelp("The task.", valueName: "id"),
            completion: .taskNames
        )
        var task: String

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await ask { client, console in
                let answer = try await client.use(task: task)
                guard !output.json else { return console.answer(json: answer.json) }
                console.answer(UsesView(uses: [answer.value]).text(console.out))
            }
        }
    }

    struct Clear: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear",
            abstract: "Delete what was learned of a task."
        )

        @Argument(
            help: ArgumentHelp("The task.", valueName: "id"),
            completion: .taskNames
        )
        var task: String

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await ask { client, console in
                let answer = try await client.forgetUses(task: task)
                guard !output.json else { return console.answer(json: answer.json) }
                console.answer("the uses of \(TerminalText.escaped(task)) are forgotten\n")
            }
        }
    }
}
