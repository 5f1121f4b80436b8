// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser

extension Plugin {
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Check a plugin before others load it.",
            discussion: """
                Each check loads the plugin into a process of its own, by the code with which the \
                daemon's workers do, and ends it. The exit status is 1 if a check fails. \
                docs/CHECK.md lists the checks.
                """
        )

        @Argument(
            help: ArgumentHelp(
                "The plugin's .so, or a folder in which it was built.",
                valueName: "file"
            ),
            completion: .file()
        )
        var file: String

        @Option(
            help: ArgumentHelp(
                "How much to ask, 1 to 10; 5 is what a plugin inside the daemon must hold, and at 10"
                    + " warnings count as failures.",
                valueName: "level"
            )
        )
        var strictness = 5

        @Option(
            help: ArgumentHelp(
                "Only this check and those that it needs; may be repeated.",
                valueName: "name"
            )
        )
        var check: [String] = []

        @Option(help: ArgumentHelp("Only this handler.", valueName: "name"))
        var handler: String?

        @Option(
            help: ArgumentHelp(
                "What each run is given, a JSON object: as it is, @file, or @- for stdin.",
                valueName: "json|@file"
            ),
            completion: .file()
        )
        var parameters = "{}"

        @Option(help: ArgumentHelp("What open() is given, a JSON object.", valueName: "json"))
        var pluginConfig = "{}"

        @Option(
            help: ArgumentHelp(
                "How long a run may take before it is asked to stop: `2s`.",
                valueName: "duration"
            )
        )
        var runtime = "2s"

        @Option(
            help: ArgumentHelp("How long it then has to end: `1s`.", valueName: "duration")
        )
        var grace = "1s"

        @Option(help: ArgumentHelp("The memory that a check may take.", valueName: "MiB"))
        var memory: UInt64 = 1024

        @Option(
            help: ArgumentHelp("Repeat the random choices of an earlier check.", valueName: "seed")
        )
        var reproduce: UInt64?

        @Flag(help: "Show only what did not pass.")
        var onlyFailed = false

        @Flag(help: "Make one --check in this process, for a debugger.")
        var inProcess = false

        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (1...10).contains(strictness) else {
                throw ValidationError("--strictness is 1 to 10, not \(strictness)")
            }
            guard (16...1 << 20).contains(memory) else {
                throw ValidationError("--memory is 16 to \(1 << 20) MiB, not \(memory)")
            }
            if inProcess, check.count != 1 {
                throw ValidationError("--in-process takes exactly one --check")
            }
        }

        func run() throws {
            let status = try PluginChecker.run(self, output.console)
            if status != .success { throw ExitCode(status.rawValue) }
        }
    }
}
