// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal
internal import BghostViews

struct Throttle: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "throttle",
        abstract: "Show or clear throttling.",
        discussion: """
            A run that is killed at the end of its grace earns 2 throttle points, and one that stops \
            later than `stopWithin` of its task's `throttle` earns 1; a success takes 1 away, and so \
            do six hours. The more points, the later the next run begins.
            """,
        subcommands: [Show.self, Clear.self],
        defaultSubcommand: Show.self
    )

    struct Show: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show throttle points, the runs that earned them, and the delays."
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
                let answer = try await client.throttles(task: task)
                guard !output.json else { return console.answer(json: answer.json) }
                let view = ThrottleView(throttles: answer.value, now: unixNow())
                console.answer(view.text(console.out))
            }
        }
    }

    struct Clear: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear",
            abstract: "Clear the throttling of a task."
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
                let answer = try await client.clearThrottle(task: task)
                guard !output.json else { return console.answer(json: answer.json) }
                let name = TerminalText.escaped(task)
                console.answer(
                    answer.value == 0
                        ? "\(name) is not throttled\n"
                        : "cleared the throttling of \(name) (\(answer.value) points)\n"
                )
            }
        }
    }
}
