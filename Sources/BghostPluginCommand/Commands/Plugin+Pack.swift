// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser

extension Plugin {
    struct Pack: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pack",
            abstract: "Write a bundle of a plugin, for others to install.",
            discussion: """
                The bundle, NAME-VERSION.bghost, has the library, what the plugin asks for, and a list \
                of SHA-256, which `bghost plugin sign` signs. It is a plain tar file; the same input \
                makes the same bytes. What the plugin asks for is in a manifest, by default the \
                tasks.dev.json of its folder: permissions, limits and tasks.
                """
        )

        @Argument(
            help: ArgumentHelp(
                "A folder in which the plugin was built, or its .so.",
                valueName: "path"
            ),
            completion: .file()
        )
        var path: String

        @Option(
            help: ArgumentHelp("The manifest that has what it asks for.", valueName: "file"),
            completion: .file()
        )
        var manifest: String?

        @Option(
            help: ArgumentHelp(
                "The plugin's name; by default that of the manifest.",
                valueName: "name"
            )
        )
        var name: String?

        @Option(
            help: ArgumentHelp(
                "Its .so for another architecture; may be repeated.",
                valueName: "file"
            ),
            completion: .file()
        )
        var library: [String] = []

        @Option(
            help: ArgumentHelp(
                "A task that it is to handle, as IDENTIFIER=HANDLER; may be repeated.",
                valueName: "task"
            )
        )
        var task: [String] = []

        @Option(
            help: ArgumentHelp(
                "A host that it is to reach, such as example.org:443; may be repeated.",
                valueName: "host:port"
            )
        )
        var allowNetwork: [String] = []

        @Option(
            help: ArgumentHelp(
                "A file or folder that it is to read; may be repeated.",
                valueName: "path"
            )
        )
        var allowRead: [String] = []

        @Option(
            help: ArgumentHelp(
                "A file or folder that it is to write; may be repeated.",
                valueName: "path"
            )
        )
        var allowWrite: [String] = []

        @Option(
            help: ArgumentHelp(
                "The JSON Schema of a handler's parameters, as HANDLER=FILE; may be repeated.",
                valueName: "schema"
            )
        )
        var schema: [String] = []

        @Option(
            help: ArgumentHelp(
                "Its README; by default README.md of the folder.",
                valueName: "file"
            ),
            completion: .file()
        )
        var readme: String?

        @Option(
            help: ArgumentHelp(
                "The text of its licence; by default LICENSE of the folder.",
                valueName: "file"
            ),
            completion: .file()
        )
        var licenceFile: String?

        @Option(help: ArgumentHelp("The SPDX name of its licence.", valueName: "licence"))
        var licence: String?

        @Option(help: ArgumentHelp("The address of its pages.", valueName: "url"))
        var homepage: String?

        @Option(
            name: [.customShort("o"), .customLong("file")],
            help: ArgumentHelp(
                "The file to write; by default NAME-VERSION.bghost here.",
                valueName: "file"
            ),
            completion: .file()
        )
        var target: String?

        @OptionGroup var output: OutputOptions

        func run() async throws {
            let options = BundlePacker.Options(
                file: path,
                manifest: manifest,
                name: name,
                libraries: library,
                readme: readme,
                licenceFile: licenceFile,
                licence: licence,
                homepage: homepage,
                schemas: schema,
                tasks: task,
                permissions: [
                    ("network", allowNetwork), ("read", allowRead), ("write", allowWrite),
                ],
                output: target
            )
            try await BundlePacker.run(options, output)
        }
    }

    struct Keygen: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "keygen",
            abstract: "Write a new key to sign plugins and bundles with.",
            discussion: """
                The secret key is for you only and has no password; FILE.pub is the public key, which \
                operators trust. Both are in minisign's format. No file is overwritten.
                """
        )

        @Argument(
            help: ArgumentHelp("The file of the secret key.", valueName: "file"),
            completion: .file()
        )
        var file: String

        @OptionGroup var output: OutputOptions

        func run() throws { try KeyMaker.run(file, output) }
    }

    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Check who signed a bundle, and whether it was changed.",
            discussion: """
                It exits 0 only if the owner of a trusted key signed exactly this content. That a \
                bundle is not signed, is signed with another key, and was changed are different \
                answers. None of its code is run.
                """
        )

        @Argument(help: ArgumentHelp("The bundle.", valueName: "file"), completion: .file())
        var file: String

        @Option(
            name: [.short, .long],
            help: ArgumentHelp(
                "A public key that is trusted: its file or its line; may be repeated.",
                valueName: "key"
            ),
            completion: .file()
        )
        var key: [String] = []

        @Option(
            name: [.short, .long],
            help: ArgumentHelp("A manifest whose `signers` are trusted too.", valueName: "file"),
            completion: .file()
        )
        var config: String?

        @OptionGroup var output: OutputOptions

        func run() throws {
            let status = try BundleVerifier.run(file, keys: key, config: config, output)
            if status != .success { throw ExitCode(status.rawValue) }
        }
    }
}
