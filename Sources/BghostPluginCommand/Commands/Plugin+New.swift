// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser
internal import BghostTemplates

extension Plugin {
    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new",
            abstract: "Write a plugin to begin with.",
            discussion: """
                It writes a new folder: a handler that shows parameters, progress, cancellation and a \
                result, what builds it, a manifest to try it with, and a script for CI. It asks \
                nothing, uses no network, and changes no file that is there.
                """
        )

        @Argument(
            help: ArgumentHelp("Its name, such as photo-upload.", valueName: "name")
        )
        var name: String

        @Option(
            help: ArgumentHelp(
                "swift, c, cpp, rust, go, or ios: an app with Apple's names.",
                valueName: "language"
            )
        )
        var language: PluginTemplate

        @Option(
            help: ArgumentHelp("The new folder; by default the name.", valueName: "dir"),
            completion: .directory
        )
        var folder: String?

        @OptionGroup var output: OutputOptions

        func run() throws {
            try NewPlugin.run(name: name, language, folder: folder, output)
        }
    }
}

extension PluginTemplate: ExpressibleByArgument {}
