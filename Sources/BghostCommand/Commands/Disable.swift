// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import ArgumentParser
internal import BghostControl

struct Disable: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Switch a plugin off until enable switches it on, also across restarts.",
        discussion: """
            Requests for its tasks are refused, those that are pending wait, and runs under way go \
            on unless --stop asks them to stop.
            """
    )

    @Argument(
        help: ArgumentHelp("The plugin's name in the manifest.", valueName: "plugin"),
        completion: .pluginNames
    )
    var plugin: String

    @Option(help: ArgumentHelp("Why, for those who look.", valueName: "text"))
    var reason = ""

    @Flag(help: "Ask its runs under way to stop.")
    var stop = false

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard reason.utf8.count <= ControlLimits.reasonBytesMax else {
            throw ValidationError("--reason has at most \(ControlLimits.reasonBytesMax) bytes")
        }
    }

    func run() async throws {
        try await ask { client, console in
            let answer = try await client.disable(plugin: plugin, reason: reason, stopsRuns: stop)
            guard !output.json else { return console.answer(json: answer.json) }
            let name = TerminalText.escaped(answer.value.plugin)
            console.answer("plugin \(name) is switched off; bghost enable \(name) takes it back\n")
            for run in answer.value.stopping { console.answer("run \(run) was asked to stop\n") }
            for run in answer.value.running { console.answer("run \(run) goes on\n") }
        }
    }
}

struct Enable: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Switch a plugin on again; lift its quarantine."
    )

    @Argument(
        help: ArgumentHelp("The plugin's name in the manifest.", valueName: "plugin"),
        completion: .pluginNames
    )
    var plugin: String

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await ask { client, console in
            let answer = try await client.enable(plugin: plugin)
            guard !output.json else { return console.answer(json: answer.json) }
            console.answer("plugin \(TerminalText.escaped(answer.value.plugin)) is switched on\n")
        }
    }
}
