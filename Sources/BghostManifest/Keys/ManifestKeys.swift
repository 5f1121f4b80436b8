// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// The table of all keys.
enum ManifestKeys {
    /// The version of the format that this program reads.
    static let version: Int64 = 1
    static let hour: UInt64 = 3_600_000
    static let day: UInt64 = 24 * hour
    static let kibibyte: UInt64 = 1 << 10
    static let mebibyte: UInt64 = 1 << 20

    static let root = ManifestSection(
        noun: "manifest",
        keys: [
            ManifestKey("version", .version, required: true, "The format of this file: 1."),
            ManifestKey("host", .section(host), "Settings of the daemon itself."),
            ManifestKey(
                "plugins",
                .definitions(of: plugin, names: .pluginName),
                default: "{}",
                "The plugins that may be loaded, by a name of your choice."
            ),
            ManifestKey(
                "functions",
                .definitions(of: function, names: .pluginName),
                default: "{}",
                "Plain C functions that tasks may call, by a name of your choice."
            ),
            ManifestKey(
                "signers",
                .definitions(of: signer, names: .pluginName),
                default: "{}",
                "Whose signatures of plugins are believed, by a name of your choice."
            ),
            ManifestKey(
                "tasks",
                .definitions(of: task, names: .identifierPattern),
                default: "{}",
                "The permitted task identifiers: exact, or a family with a trailing `.*`."
            ),
            ManifestKey(
                "sessions",
                .definitions(of: session, names: .sessionName),
                default: "{}",
                "Sessions of background transfers: each belongs to one plugin."
            ),
            ManifestKey(
                "notifications",
                .section(notifications),
                "Who delivers what plugins post as notifications."
            ),
        ]
    )

    static let host = ManifestSection(
        noun: "section `host`",
        keys: [
            ManifestKey(
                "stateDirectory",
                .text(.hostPath),
                """
                Where the daemon keeps its state; the default is $XDG_STATE_HOME/bghost, as root \
                /var/lib/bghost.
                """
            ),
            ManifestKey(
                "control",
                .text(.controlAddress),
                "The control socket, as unix:PATH; the default is a socket in the state directory."
            ),
            controlGroup,
            controlRole,
            ManifestKey(
                "slots",
                .whole(1...4096),
                """
                How many runs may be under way at once; the default is the number of processors, at \
                least 2.
                """
            ),
            onChange,
            ManifestKey(
                "dashboard",
                .section(dashboard),
                "The pages that `bghost dashboard` opens in a browser; without this section there are none."
            ),
            ManifestKey(
                "timeZone",
                .text(.timeZone),
                default: "\"UTC\"",
                "The IANA zone of calendars that name none."
            ),
            ManifestKey("facts", .section(facts), "What the machine cannot tell by itself."),
            ManifestKey(
                "powerPolicy",
                .word(PowerPolicy.allCases.map(\.rawValue), reserved: []),
                default: "\"none\"",
                """
                What waits while the battery is low: none, or with lowBattery the tasks of kind refresh, \
                as under Apple's Low Power Mode.
                """
            ),
            require(
                """
                Layers of the sandbox without which no worker may run; `bghost doctor` tries each.
                """
            ),
        ] + records
    )

    static let plugin = ManifestSection(
        noun: "plugin",
        keys: [
            ManifestKey(
                "library",
                .text(.library),
                required: true,
                "The shared library: a path, or a bare name that is looked up in the plugin path."
            ),
            ManifestKey(
                "sha256",
                .text(.digest),
                "The SHA-256 that the file must have, 64 lower-case hex digits."
            ),
            ManifestKey(
                "isolation",
                .word(Isolation.allCases.map(\.rawValue), reserved: []),
                default: "\"worker\"",
                """
                Where it runs: worker is a process of its own that can be killed; in-process is the \
                daemon, for trusted code only, where a run can be abandoned but not killed.
                """
            ),
            ManifestKey(
                "runsPerWorker",
                .whole(1...1024),
                default: "1",
                "How many runs may share one worker at a time."
            ),
            ManifestKey(
                "prestart",
                .whole(0...64),
                default: "0",
                """
                How many workers are kept loaded and idle, so that a run need not wait for one to \
                start.
                """
            ),
            ManifestKey("permissions", .section(permissions), "What it may do besides computing."),
            require("Layers of the sandbox without which its workers must not run."),
            ManifestKey("limits", .section(workerLimits), "What each of its workers may use."),
            ManifestKey("maxPending", .section(maxPending), "How many requests may wait for it."),
            ManifestKey(
                "runtimePerDay",
                .section(runtimePerDay),
                "How long its runs may take together within any 24 hours; without it, any time."
            ),
            ManifestKey(
                "config",
                .settings,
                default: "{}",
                "The plugin's own settings, handed to it."
            ),
            override,
            ManifestKey(
                "signedBy",
                .text(.pluginName),
                """
                The one of `signers` whose signature the file must bear; it lies beside the file, as \
                minisign writes it, in FILE.minisig.
                """
            ),
            ManifestKey(
                "libraries",
                .definitions(of: neededLibrary, names: .library),
                default: "{}",
                """
                Libraries that it needs and that are not the system's, by the names by which it needs \
                them. With `sha256` each of them must be here, with `signedBy` each that is not signed.
                """
            ),
            ManifestKey(
                "onChange",
                .word(LibraryChange.allCases.map(\.rawValue), reserved: []),
                """
                What becomes of another file in the place of its library: reload takes it up for the \
                runs that begin from then on, if it can be loaded; ask goes on with the one before \
                until `bghost reload`. Without it: ask with `sha256` or `signedBy`, else reload.
                """
            ),
        ]
    )

    private static let neededLibrary = ManifestSection(
        noun: "library",
        keys: [
            ManifestKey(
                "sha256",
                .text(.digest),
                required: true,
                "The SHA-256 that the file must have, 64 lower-case hex digits."
            )
        ]
    )

    static let signer = ManifestSection(
        noun: "signer",
        keys: [
            ManifestKey(
                "key",
                .text(.publicKey),
                required: true,
                "The public key, as `minisign` shows it: RW and 54 further letters."
            )
        ]
    )

    static let permissions = ManifestSection(
        noun: "section `permissions`",
        keys: [
            ManifestKey(
                "network",
                .list(of: .networkGrant),
                default: "[]",
                "Hosts and ports that the daemon may speak to for it, such as api.example.org:443."
            ),
            ManifestKey(
                "directNetwork",
                .flag,
                default: "false",
                "Whether its worker may open network sockets itself."
            ),
            ManifestKey(
                "read",
                .list(of: .path),
                default: "[]",
                "Files and folders that it may read besides its own data directory."
            ),
            ManifestKey(
                "write",
                .list(of: .path),
                default: "[]",
                "Files and folders that it may write besides its own data directory."
            ),
            ManifestKey(
                "submit",
                .list(of: .identifierPattern),
                default: "[]",
                "Tasks for which it may submit requests, besides those that it handles."
            ),
            ManifestKey(
                "notify",
                .flag,
                default: "false",
                "Whether it may post notifications."
            ),
            ManifestKey(
                "jit",
                .flag,
                default: "false",
                "Whether it may make code while it runs: memory that is writable and executable."
            ),
        ]
    )

    static let function = ManifestSection(
        noun: "function",
        keys: [
            ManifestKey(
                "library",
                .text(.library),
                required: true,
                "The shared library: a path, or a name that the loader finds, such as libz.so.1."
            ),
            ManifestKey(
                "symbol",
                .text(.symbol),
                required: true,
                "The function's name in the library."
            ),
            ManifestKey(
                "signature",
                .text(.signature),
                required: true,
                "Its result and arguments, such as ulong(ulong, bytes, uint)."
            ),
            ManifestKey("limits", .section(workerLimits), "What each of its workers may use."),
            override,
        ]
    )

    static let task = ManifestSection(
        noun: "task",
        keys: [
            ManifestKey(
                "plugin",
                .text(.pluginName),
                "The plugin that handles it; a task names exactly one of plugin and function."
            ),
            ManifestKey(
                "function",
                .text(.pluginName),
                "The function that it calls; a task names exactly one of plugin and function."
            ),
            ManifestKey(
                "handler",
                .text(.handlerName),
                "The handler in the plugin; the default is the identifier, without a trailing `.*`."
            ),
            ManifestKey(
                "kind",
                .word(TaskKind.named.map(\.rawValue), reserved: ["continued"]),
                default: "\"refresh\"",
                """
                What it is: refresh is short (25s of runtime, 5s of grace), processing is long \
                (10m, 30s).
                """
            ),
            ManifestKey("limits", .section(runLimits), "How long one run may take."),
            ManifestKey(
                "overlap",
                .word(Overlap.allCases.map(\.rawValue), reserved: []),
                default: "\"queue\"",
                """
                What becomes of a request while a run of the task is under way: it waits, is dropped, \
                takes the run's place, or runs beside it. A retry waits, or runs beside it.
                """
            ),
            ManifestKey(
                "priority",
                .whole(0...1000),
                default: "500",
                "The higher goes first."
            ),
            ManifestKey(
                "submitAtStart",
                .flagOrSection(startCondition),
                default: "false",
                "Whether a request is submitted when the daemon starts, unless one is pending."
            ),
            ManifestKey(
                "parameters",
                .settings,
                default: "{}",
                "Handed to the handler; a request's own parameters are laid over them by key."
            ),
            parametersSchema,
            ManifestKey("retry", .section(retry), "What follows a run that did not succeed."),
            ManifestKey(
                "history",
                .section(taskHistory),
                "How much of its history is kept, where that is less than the host keeps."
            ),
            throttle,
            override,
        ] + schedule + requirements + relations,
        alternatives: ["plugin", "function"]
    )

    static let runLimits = ManifestSection(
        noun: "section `limits`",
        keys: [
            ManifestKey(
                "runtime",
                .duration(1...day),
                "From the handler's start until it is asked to stop; the default is the kind's."
            ),
            ManifestKey(
                "grace",
                .duration(1...600_000),
                "From being asked to stop until it is killed; the default is the kind's."
            ),
        ]
    )

    static let startCondition = ManifestSection(
        noun: "section `submitAtStart`",
        keys: [
            ManifestKey(
                "ifAbsent",
                .flag,
                required: true,
                "True: only if no request is pending."
            )
        ]
    )

    private static func require(_ summary: String) -> ManifestKey {
        ManifestKey("require", .list(of: .layer), default: "[]", summary)
    }

    static let override = ManifestKey(
        "override",
        .flag,
        default: "false",
        "In a drop-in: whether this replaces a definition of the same name in an earlier file."
    )
}
