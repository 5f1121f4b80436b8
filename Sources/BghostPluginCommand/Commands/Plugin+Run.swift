// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser
internal import BghostModel

extension Plugin {
    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run",
            abstract: "Run a handler of a plugin, without a daemon and a manifest.",
            discussion: """
                The handler runs in a worker with the sandbox and the limits that the daemon would \
                give it, and with an empty data directory, which is removed afterwards. Its log goes \
                to stderr, its result to stdout. Ctrl-C asks the run to stop, a second Ctrl-C kills it.

                It exits 0 if the run succeeded, 75 if it was cancelled and stopped in time, and 1 if \
                it failed, crashed or had to be killed; after Ctrl-C 130. Requests that the handler \
                submits are listed and not run.

                It has the permissions, limits of memory, settings and sessions that a manifest declares \
                for it: that of --manifest, or tasks.dev.json of a folder that is named. Options add to \
                them. Notifications need a daemon.

                With --watch and a folder it builds the plugin and runs the handler again whenever one \
                of the sources changes. It builds with the tool whose file the folder has: \
                Package.swift, Cargo.toml, go.mod or a Makefile; --build names another command. With \
                --watch and a file it runs the handler again whenever that file changes; with --build \
                it also builds, in the current folder. A run under way is asked to stop before. Hidden \
                files, build, target and what compilers make are no sources.

                With --debug the worker loads the plugin and waits, with gdb or lldb attached on this \
                terminal. The run begins when you continue. Its times stand still as long as the \
                debugger is attached.
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

        @Argument(
            help: ArgumentHelp(
                "The handler; not needed if the plugin has one.",
                valueName: "handler"
            )
        )
        var handler: String?

        @OptionGroup var request: RequestOptions

        @Option(help: ArgumentHelp("What open() is given, a JSON object.", valueName: "json"))
        var pluginConfig = "{}"

        @Option(
            help: ArgumentHelp(
                "Cancel the run after this time, as at the end of its runtime: `5s`.",
                valueName: "duration"
            )
        )
        var expireAfter = "10m"

        @Option(
            help: ArgumentHelp(
                "How long it has to stop then, before it is killed: `5s`.",
                valueName: "duration"
            )
        )
        var grace = "5s"

        @Option(
            help: ArgumentHelp(
                "The kind of its task, refresh or processing.",
                valueName: "kind"
            )
        )
        var kind = "refresh"

        @Option(
            help: ArgumentHelp(
                "The manifest that declares its permissions and sessions.",
                valueName: "file"
            ),
            completion: .file()
        )
        var manifest: String?

        @Option(
            help: ArgumentHelp(
                "A host that it may reach, such as example.org:443; may be repeated.",
                valueName: "host:port"
            )
        )
        var allowNetwork: [String] = []

        @Option(
            help: ArgumentHelp(
                "A file or folder that it may read; may be repeated.",
                valueName: "path"
            ),
            completion: .file()
        )
        var allowRead: [String] = []

        @Option(
            help: ArgumentHelp(
                "A file or folder that it may write; may be repeated.",
                valueName: "path"
            ),
            completion: .file()
        )
        var allowWrite: [String] = []

        @Flag(help: "Run it again after each change, until Ctrl-C.")
        var watch = false

        @Option(
            help: ArgumentHelp(
                "With --watch: the shell command that builds the plugin, instead of its build tool's.",
                valueName: "command"
            )
        )
        var build: String?

        @Flag(help: "With --watch: check the plugin first, and run it only if it passes.")
        var check = false

        @Flag(help: "Attach a debugger to the worker before the run begins.")
        var debug = false

        @Option(
            help: ArgumentHelp(
                "With --debug: the debugger's command, such as gdb or 'gdb -x FILE'.",
                valueName: "command"
            )
        )
        var debugger: String?

        @Flag(help: "Print one JSON object a line to stdout: log, progress, and at last the run.")
        var json = false

        @OptionGroup var look: LookOptions

        func run() async throws {
            let status = try await watch ? watched() : once()
            if status != ExitStatus.success.rawValue { throw ExitCode(status) }
        }

        func validate() throws {
            guard watch || (build == nil && !check) else {
                throw ValidationError("--build and --check need --watch")
            }
            guard debug || debugger == nil else {
                throw ValidationError("--debugger needs --debug")
            }
            guard !debug || (!watch && !json) else {
                throw ValidationError(
                    "--debug needs the terminal, so it cannot be used with --watch or --json"
                )
            }
            guard !watch || request.parameters != "@-" else {
                throw ValidationError("with --watch, the parameters cannot come from stdin")
            }
        }

        private func once() async throws -> Int32 {
            try await PluginRun.run(PluginRunOptions(self), look.console)
        }

        private func watched() async throws -> Int32 {
            // Wrong options are told before the first build.
            _ = try PluginRunOptions(self)
            let words = Array(CommandLine.arguments.dropFirst())
            return try await PluginWatch.run(
                PluginWatch.Order(
                    file: file,
                    build: build,
                    check: check ? checkWords : nil,
                    run: PluginWatch.runWords(of: words)
                ),
                look.console
            )
        }

        private var checkWords: [String] {
            // Parameters are those of one handler; another one may refuse them.
            ["plugin", "check", "--only-failed", "--plugin-config", pluginConfig]
                + (request.parameters.map { ["--parameters", $0] } ?? [])
                + (handler.map { ["--handler", $0] } ?? []) + ["--", file]
        }
    }
}
