// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostBase
internal import BghostManifest
internal import BghostModel
internal import BghostSimulation
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal
internal import BghostViews

/// A log level as an argument.
enum LevelName: String, ExpressibleByArgument, CaseIterable {
    case trace, debug, info, warning, error, fault

    var level: LogEntry.Level {
        switch self {
        case .trace: .trace
        case .debug: .debug
        case .info: .info
        case .warning: .warning
        case .error: .error
        case .fault: .fault
        }
    }
}

extension LogFormat: ExpressibleByArgument {}

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the daemon in the foreground.",
        discussion: """
            SIGINT and SIGTERM drain it: nothing new starts, runs are asked to stop, and those that \
            do not stop within their grace are killed; a second signal kills them at once. SIGHUP \
            reloads the manifest, as `bghost reload` does.
            """
    )

    @Option(
        name: [.short, .long],
        help: ArgumentHelp("The manifest.", valueName: "file"),
        completion: .file()
    )
    var config = "tasks.json"

    @Option(
        help: ArgumentHelp(
            "Where state is kept (default: $XDG_STATE_HOME/bghost, as root /var/lib/bghost).",
            valueName: "dir"
        ),
        completion: .directory
    )
    var stateDir: String?

    @Option(
        help: ArgumentHelp(
            "The control socket (default: control.sock in the state directory).",
            valueName: "path"
        ),
        completion: .file()
    )
    var control: String?

    @Option(help: ArgumentHelp("How to write the log: auto, json or text.", valueName: "format"))
    var logFormat = LogFormat.auto

    @Option(help: ArgumentHelp("The least level that is written.", valueName: "level"))
    var logLevel = LevelName.info

    @Option(
        help: ArgumentHelp("Where to look for plugins; may be repeated.", valueName: "dir"),
        completion: .directory
    )
    var pluginPath: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Run at most this many runs at once (default: the number of processors, at least 2; with \
            --virtual-clock 4, so that a seed means the same on each machine).
            """,
            valueName: "n"
        )
    )
    var slots: Int?

    @Option(
        help: ArgumentHelp(
            "Write all that the scheduler decides, and why, into a new file for `bghost replay`.",
            valueName: "file"
        ),
        completion: .file()
    )
    var record: String?

    @Flag(help: "Take a manifest and plugins that other users could change, for development.")
    var dev = false

    @Option(
        help: ArgumentHelp(
            """
            With --dev: load this library for a plugin of the manifest instead of its own, unsigned and \
            unpinned, and again whenever it changes; may be repeated.
            """,
            valueName: "plugin=file"
        ),
        completion: .file()
    )
    var devLibrary: [String] = []

    @OptionGroup var virtual: VirtualClockOptions

    func validate() throws {
        guard !virtual.isMisplaced else {
            throw ValidationError(
                "--for, --from, --behavior, --reload, --trace and --json go with --virtual-clock"
            )
        }
        guard dev || devLibrary.isEmpty else {
            throw ValidationError("--dev-library needs --dev")
        }
        guard (1...4096).contains(slots ?? 1) else {
            throw ValidationError("--slots must be from 1 to 4096")
        }
    }

    func run() async throws {
        if let seed = virtual.virtualClock { return try play(seed: seed) }
        try await Daemon.run(
            RunOptions(
                config: config,
                stateDirectory: stateDir,
                control: control.map(ControlLocation.normalized),
                logFormat: logFormat,
                logLevel: logLevel.level,
                pluginPaths: pluginPath,
                slots: slots,
                record: record,
                allowsUntrustedFiles: dev,
                developmentLibraries: DevelopmentLibraries(devLibrary)
            ),
            Console(.auto)
        )
    }

    private static func tracer(
        _ console: Console,
        asJSON: Bool
    ) -> @Sendable (Moment, Simulation.Event) -> Void {
        { now, event in
            let line = VirtualLine(now, event)
            if asJSON { console.answer(json: line.json) } else { console.answer(line.line) }
        }
    }

    /// Plays the manifest's schedules in a simulation.
    private func play(seed: UInt64) throws {
        let console = Console(.auto)
        let reading = ManifestFiles.read(config, unresolvedSecrets: .warning)
        let manifest = try reading.require(console)
        let from = virtual.from ?? VirtualClockOptions.defaultStart
        let begun = ContinuousClock.now
        let asJSON = virtual.json
        var play = VirtualPlay(
            manifest: manifest,
            path: config,
            slots: slots,
            seed: seed,
            behavior: virtual.behavior.behavior
        )
        for reload in virtual.reloads.sorted(by: { $0.after < $1.after }) {
            let other = ManifestFiles.read(reload.file, unresolvedSecrets: .warning)
            let at = from.addingClamped(Int64(clamping: reload.after.clampedNanoseconds))
            play.reloads.append((at, try other.require(console)))
        }
        let result = play.play(
            from: from,
            through: from.addingClamped(Int64(clamping: virtual.length.clampedNanoseconds)),
            observe: virtual.trace ? Self.tracer(console, asJSON: asJSON) : nil
        )
        let view = VirtualPlayView(result: result)
        if asJSON {
            console.answer(json: view.json)
        } else {
            console.answer(view.text(console.out))
        }
        let took = HumanText.duration(begun.duration(to: .now))
        console.remark("\(HumanText.duration(virtual.length)) in \(took), seed \(seed)")
        guard result.faults.isEmpty else {
            throw CommandFailure(
                .internalError,
                "\(result.faults.count) transitions happened that must not be",
                fix: "report it with the manifest and seed=\(seed)"
            )
        }
    }
}
