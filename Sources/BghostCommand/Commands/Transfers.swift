// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal
internal import BghostViews

struct Transfers: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfers",
        abstract: "List, cancel and retry transfers.",
        subcommands: [List.self, Show.self, Cancel.self, Retry.self],
        defaultSubcommand: List.self
    )

    struct List: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the transfers that are not acknowledged.",
            discussion: """
                With --watch it shows how far they are until all have ended: live on a terminal, else \
                a line for each tenth.
                """
        )

        @Option(
            help: ArgumentHelp("Only those of this plugin.", valueName: "name"),
            completion: .pluginNames
        )
        var plugin: String?

        @Flag(name: .shortAndLong, help: "Show how far they are until all have ended.")
        var watch = false

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await ask { client, console in
                guard watch else {
                    let answer = try await client.transfers()
                    guard !output.json else { return console.answer(json: answer.json) }
                    return console.answer(
                        TransfersView(chosen(answer.value), now: unixNow()).text(console.out)
                    )
                }
                try await TransferWatch(console: console, hasJSON: output.json).run(client) {
                    chosen($0)
                }
            }
        }

        private func chosen(_ views: [TransferView]) -> [TransferView] {
            views.filter { plugin == nil || $0.plugin == plugin }
        }
    }

    struct Show: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show one transfer in full."
        )

        @Argument(help: ArgumentHelp("Its id, or the beginning of it.", valueName: "id"))
        var transfer: String

        @Flag(name: .shortAndLong, help: "Show how far it is until it has ended.")
        var watch = false

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await ask { client, console in
                let answer = try await client.transfers()
                let view = try named(transfer, in: answer.value)
                if watch {
                    return try await TransferWatch(console: console, hasJSON: output.json)
                        .run(client) { $0.filter { $0.id == view.id } }
                }
                guard !output.json else {
                    let answer = API.TransferAnswer(transfer: view)
                    return console.answer(json: APICoder.text(Schema.transfer, answer))
                }
                console.answer(TransfersView([view], now: unixNow()).details(console.out))
            }
        }

        private func named(_ prefix: String, in views: [TransferView]) throws -> TransferView {
            do throws(OperatorRefusal) {
                return try TransferView.named(prefix, in: views)
            } catch {
                throw CommandFailure(ControlFault(error))
            }
        }
    }

    struct Cancel: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "cancel",
            abstract: "Cancel a transfer and notify its session."
        )

        @Argument(help: ArgumentHelp("Its id, or the beginning of it.", valueName: "id"))
        var transfer: String

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await ask { client, console in
                let answer = try await client.cancelTransfer(transfer)
                guard !output.json else { return console.answer(json: answer.json) }
                console.answer("\(answer.value.id) is \(answer.value.stateName)\n")
            }
        }
    }

    struct Retry: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry",
            abstract: "Retry a transfer now."
        )

        @Argument(help: ArgumentHelp("Its id, or the beginning of it.", valueName: "id"))
        var transfer: String

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await ask { client, console in
                let answer = try await client.retryTransfer(transfer)
                guard !output.json else { return console.answer(json: answer.json) }
                console.answer("\(answer.value.id) is \(answer.value.stateName)\n")
            }
        }
    }
}
