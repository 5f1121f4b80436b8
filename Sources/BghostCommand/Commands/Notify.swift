// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal
internal import BghostViews

struct Notify: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify",
        abstract: "List, test and answer notifications.",
        subcommands: [Outbox.self, Test.self, Act.self]
    )

    struct Outbox: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "outbox",
            abstract: "List notifications that wait, and those that may still be answered."
        )

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await ask { client, console in
                let answer = try await client.outbox()
                guard !output.json else { return console.answer(json: answer.json) }
                let view = OutboxView(notifications: answer.value, now: unixNow())
                console.answer(view.text(console.out))
            }
        }
    }

    struct Test: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "test",
            abstract: "Post a notification, to see whether it arrives.",
            discussion: """
                It goes the way of all others: it is stored, and delivered by the task that \
                `notifications` names. `bghost notify outbox` says what became of it.
                """
        )

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await ask { client, console in
                let answer = try await client.postTestNotification()
                guard !output.json else { return console.answer(json: answer.json) }
                console.answer("posted \(answer.value.id) (\(answer.value.key))\n")
            }
        }
    }

    struct Act: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "act",
            abstract: "Answer a notification, as its reader would.",
            discussion: """
                Its plugin gets a run of the handler notificationAction, again and again until one \
                succeeds. The action `default` is to open the notification.
                """
        )

        @Argument(help: ArgumentHelp("The notification.", valueName: "id"))
        var id: String

        @Argument(help: ArgumentHelp("One of its actions, or default.", valueName: "action"))
        var action: String

        @Option(help: ArgumentHelp("What was typed.", valueName: "text"))
        var text: String?

        @Option(help: ArgumentHelp("Its plugin, if several have one.", valueName: "name"))
        var plugin: String?

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await ask { client, console in
                let answer = try await client.act(
                    on: id,
                    plugin: plugin,
                    action: action,
                    text: text
                )
                guard !output.json else { return console.answer(json: answer.json) }
                console.answer(
                    "\(TerminalText.escaped(answer.value.plugin)) is told: request"
                        + " \(answer.value.request)\n"
                )
            }
        }
    }
}
