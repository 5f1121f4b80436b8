// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal
internal import BghostViews

struct Alerts: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "alerts",
        abstract: "Show what fires, or test the receivers.",
        discussion: """
            The manifest says in `host.alerts` who is told, and in `expect` of a task what makes an \
            alert of it.
            """,
        subcommands: [Show.self, Test.self],
        defaultSubcommand: Show.self
    )

    struct Show: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show what fires, since when, and who was told."
        )

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await ask { client, console in
                let answer = try await client.alerts()
                guard !output.json else { return console.answer(json: answer.json) }
                let view = AlertsView(report: answer.value, now: unixNow())
                console.answer(view.text(console.out))
            }
        }
    }

    struct Test: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "test",
            abstract: "Test each receiver with a message, and show what it answers.",
            discussion: """
                Exits with 0 if each receiver takes the message, and with 1 if one does not. It is sent \
                in a window of `mute` too.
                """
        )

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let tests = try await ask { client, console in
                let answer = try await client.testAlerts()
                if output.json {
                    console.answer(json: answer.json)
                } else {
                    console.answer(AlertTestView(tests: answer.value).text(console.out))
                }
                return answer.value
            }
            guard tests.allSatisfy(\.delivered) else { throw ExitCode(1) }
        }
    }
}
