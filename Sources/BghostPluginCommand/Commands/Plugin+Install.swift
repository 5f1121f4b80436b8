// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser
internal import BghostAPI
internal import BghostBase
internal import BghostBundle
internal import BghostControl
internal import BghostTerminal

/// The options of the commands that install a bundle.
struct InstallOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The bundle.", valueName: "file"), completion: .file())
    var file: String

    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            "A public key that is trusted besides the manifest's `signers`: its file or its line; may"
                + " be repeated.",
            valueName: "key"
        ),
        completion: .file()
    )
    var key: [String] = []

    @Flag(help: "Take a bundle that is not signed; it is pinned to its present content.")
    var allowUnsigned = false

    @Flag(help: "Consent to all that the bundle asks for, without a question.")
    var yes = false

    @Flag(help: "Take plugins that other users could change, for development.")
    var dev = false

    @Flag(help: "Make the daemon reload its manifest afterwards.")
    var reload = false

    fileprivate func options(
        _ connection: ConnectionOptions,
        plugins: String?,
        isUpdate: Bool
    ) -> BundleInstaller.Options {
        BundleInstaller.Options(
            file: file,
            config: connection.manifest,
            plugins: plugins.map(ControlLocation.normalized),
            keys: key,
            allowsUnsigned: allowUnsigned,
            allowsUntrustedFiles: dev,
            isUpdate: isUpdate
        )
    }
}

extension ConnectionOptions {
    /// The path of the manifest that is changed.
    fileprivate var manifest: String { config ?? "tasks.json" }
}

extension ClientCommand {
    /// Installs, prints the result, and reloads if that is asked for.
    fileprivate func install(_ options: BundleInstaller.Options, _ wishes: InstallOptions)
        async throws
    {
        let consent = BundleConsent(
            console: output.console,
            isJSON: output.json,
            isGiven: wishes.yes
        )
        let result = try await BundleInstaller(options: options, consent: consent).run()
        let (fragment, isChanged) = result.outcome
        if output.json {
            output.console.answer(json: json(fragment, isChanged))
        } else {
            let verb = isChanged ? "is installed" : "was installed already"
            consent.say(
                "\(output.console.out.painted(.good)) \(fragment.name) \(fragment.version) \(verb):"
                    + " tasks.d/\(fragment.file)"
            )
        }
        if wishes.reload {
            try await reload()
        } else if isChanged, !output.json {
            consent.say("  A running daemon takes it up with `bghost reload`.")
        }
    }

    fileprivate func reload() async throws {
        try await ask { client, console in
            let report = try await client.reload(dryRun: false).value
            console.remark(TerminalText.escaped(report.summary))
        }
    }

    private func json(_ fragment: Fragment, _ isChanged: Bool) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("schema", "bghost.install/1")
            writer.member("changed", isChanged)
            writer.member("digest", fragment.digest)
            writer.member("file", "tasks.d/\(fragment.file)")
            writer.member("key", fragment.key)
            writer.member("name", fragment.name)
            writer.member("plugin", fragment.grants.plugin)
            writer.member("sessions", fragment.grants.sessions)
            writer.member("tasks", fragment.grants.tasks)
            writer.member("version", fragment.version)
        }
        return writer.text
    }
}

extension BundleInstaller.Result {
    fileprivate var outcome: (Fragment, Bool) {
        switch self {
        case .done(let fragment): (fragment, true)
        case .unchanged(let fragment): (fragment, false)
        }
    }
}

extension Plugin {
    struct Install: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "install",
            abstract: "Install a bundle beside a manifest.",
            discussion: """
                It shows what the plugin asks for, and asks for consent; without a terminal it needs \
                --yes. What was shown is then in a drop-in, tasks.d/bundle-NAME.json, and nothing \
                else. The library is pinned to its SHA-256. If anything fails, all is as before.
                """
        )

        @OptionGroup var wishes: InstallOptions

        @Option(
            help: ArgumentHelp(
                "The folder for the plugins' files; by default `plugins` beside the manifest.",
                valueName: "dir"
            ),
            completion: .directory
        )
        var folder: String?

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await install(
                wishes.options(connection, plugins: folder, isUpdate: false),
                wishes
            )
        }
    }

    struct Update: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "update",
            abstract: "Install another version of an installed bundle.",
            discussion: """
                It shows what changes. If the new version asks for more, has another signer or is \
                older, or may be, it needs consent again; if it asks for the same or less, it does \
                not. The key that signed the installed version goes on to be trusted. With the bundle \
                that is installed, files that are missing or were changed are installed again.
                """
        )

        @OptionGroup var wishes: InstallOptions
        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await install(
                wishes.options(connection, plugins: nil, isUpdate: true),
                wishes
            )
        }
    }

    struct Remove: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove an installed bundle.",
            discussion: """
                It is refused while other parts of the manifest need the plugin. The data directory of \
                the plugin stays.
                """
        )

        @Argument(help: ArgumentHelp("The name of the bundle.", valueName: "name"))
        var name: String

        @Flag(help: "Make the daemon reload its manifest afterwards.")
        var reload = false

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let version = try InstalledBundles.remove(name, connection.manifest)
            if output.json {
                var writer = JSONWriter()
                writer.object { writer in
                    writer.member("schema", "bghost.removed/1")
                    writer.member("name", name)
                    writer.member("version", version)
                }
                output.console.answer(json: writer.text)
            } else {
                let title = version.map { "\(name) \($0)" } ?? name
                output.console.answer(
                    "\(output.console.out.painted(.good)) \(title) is removed\n"
                )
            }
            if reload { try await self.reload() }
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List installed bundles, and whether their libraries are unchanged."
        )

        @Option(
            name: [.short, .long],
            help: ArgumentHelp("The manifest beside which they are installed.", valueName: "file"),
            completion: .file()
        )
        var config = "tasks.json"

        @OptionGroup var output: OutputOptions

        func run() throws { try InstalledBundles.list(config, output) }
    }
}
