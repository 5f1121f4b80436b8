// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import BghostControl
internal import BghostCore
internal import BghostRecords

struct Throttle: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what tasks owe for runs that did not stop in time, and forgive it.",
        discussion: """
            A run that had to be killed when its time was up costs 2 points, one that stopped within \
            its grace 1; a success takes 1 away, and so do six hours. The more points, the later \
            the next run begins.
            """,
        subcommands: [Show.self, Clear.self],
        defaultSubcommand: Show.self
    )

    struct Show: ClientCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what tasks owe, what for, and what that delays."
        )

        @Argument(help: ArgumentHelp("Only this task.", valueName: "id"))
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
            abstract: "Forgive what a task owes: its next run begins when it may otherwise."
        )

        @Argument(help: ArgumentHelp("The task.", valueName: "id"))
        var task: String

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await ask { client, console in
                let answer = try await client.forgive(task: task)
                guard !output.json else { return console.answer(json: answer.json) }
                let name = TerminalText.escaped(task)
                console.answer(
                    answer.value == 0
                        ? "\(name) owes nothing\n"
                        : "\(name) is forgiven its \(answer.value) points\n"
                )
            }
        }
    }
}
