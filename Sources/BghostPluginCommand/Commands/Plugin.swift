// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
package import ArgumentParser
internal import BghostTerminal

package struct Plugin: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "plugin",
        abstract: "Write, run, check, pack, sign and install plugins.",
        subcommands: [
            New.self, Run.self, Check.self, Inspect.self, Pack.self, Keygen.self, Sign.self,
            Verify.self, Install.self, Update.self, List.self, Remove.self,
        ]
    )

    package init() {}

    struct Sign: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sign",
            abstract: "Sign a bundle, or a plugin for `signedBy` of manifests.",
            discussion: """
                The signature of a bundle becomes a part of it. That of a plugin's .so is written \
                beside the file, as FILE.minisig. Both are in minisign's format; the key is what \
                `bghost plugin keygen` or `minisign -G -W` makes.
                """
        )

        @Argument(
            help: ArgumentHelp("The bundle, or the plugin's .so.", valueName: "file"),
            completion: .file()
        )
        var file: String

        @Option(
            name: [.short, .long],
            help: ArgumentHelp("The secret key.", valueName: "file"),
            completion: .file()
        )
        var key: String

        @Option(help: ArgumentHelp("A line that is signed too; for a .so only.", valueName: "text"))
        var comment: String?

        func run() throws {
            try PluginSigner.run(file: file, key: key, comment: comment, Console(.auto))
        }
    }

    struct Inspect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "inspect",
            abstract: "Show what a plugin's file says of itself.",
            discussion: "None of its code is run, unless --load asks for its handlers."
        )

        @Argument(
            help: ArgumentHelp(
                "The plugin's .so, or a folder in which it was built.",
                valueName: "file"
            ),
            completion: .file()
        )
        var file: String

        @Flag(
            help:
                "Also load it into a process of its own, and show its handlers with their schemas."
        )
        var load = false

        @OptionGroup var output: OutputOptions

        func run() async throws {
            let status = try await PluginInspector.run(
                file: file,
                loads: load,
                json: output.json,
                output.console
            )
            if status != .success { throw ExitCode(status.rawValue) }
        }
    }
}
