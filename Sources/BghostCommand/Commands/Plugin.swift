// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

struct Plugin: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look at plugins.",
        subcommands: [Inspect.self]
    )

    struct Inspect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what a plugin's file says of itself.",
            discussion: "None of its code is run."
        )

        @Argument(help: ArgumentHelp("The plugin's .so.", valueName: "file"), completion: .file())
        var file: String

        @OptionGroup var output: OutputOptions

        func run() async throws {
            let status = try await PluginInspector.run(
                file: file,
                json: output.json,
                output.console
            )
            if status != .success { throw ExitCode(status.rawValue) }
        }
    }
}
