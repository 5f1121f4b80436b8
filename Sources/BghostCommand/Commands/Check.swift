// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a manifest and the plugins that it names.",
        discussion: "Nothing is started, and the network is not touched."
    )

    @Option(
        name: [.short, .long],
        help: ArgumentHelp("The manifest.", valueName: "file"),
        completion: .file()
    )
    var config = "tasks.json"

    @Option(
        help: ArgumentHelp("Where to look for plugins; may be repeated.", valueName: "dir"),
        completion: .directory
    )
    var pluginPath: [String] = []

    @Flag(help: "Fail on warnings too.")
    var denyWarnings = false

    @Flag(help: "Pass over variables of the environment that are not set here.")
    var noEnv = false

    @Flag(help: "Take a manifest and plugins that other users could change, for development.")
    var dev = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let options = CheckOptions(
            config: config,
            pluginPaths: pluginPath,
            json: output.json,
            deniesWarnings: denyWarnings,
            ignoresEnvironment: noEnv,
            allowsUntrustedFiles: dev
        )
        let status = try await Checker.run(options, output.console)
        if status != .success { throw ExitCode(status.rawValue) }
    }
}
