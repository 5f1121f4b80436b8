// SPDX-License-Identifier: Apache-2.0

internal import BghostPlugin
internal import CBghost
internal import CBghostSystem
internal import Glibc

/// The plugin's behavior while it is loaded, before the first call.
enum LoadChecks {
    private static let staticFiles = ["entry", "file", "note"]

    static let all = [
        Check("load", "it can be loaded", level: 1, .plugin, needs: staticFiles, runs: 0) {
            (stage) throws(Finding) in
            _ = try stage.map()
        },
        Check(
            "load-output",
            "it writes nothing while it is loaded",
            level: 4,
            .plugin,
            needs: ["table"]
        ) { (stage) throws(Finding) in
            let trap = OutputTrap()
            try loadAndEnter(stage)
            let (beginning, count) = trap.text()
            guard count > 0 else { return }
            throw Finding.failed(
                "it wrote \(count) bytes while it was loaded: \(quoted(beginning))",
                fix: "take the output out of its constructors and of bghost_plugin_v1();"
                    + " bg_host.log is for messages"
            )
        },
        Check(
            "load-threads",
            "it starts no thread and no process while it is loaded",
            level: 3,
            .plugin,
            needs: ["table"]
        ) { (stage) throws(Finding) in
            try loadAndEnter(stage)
            if let thread = ProcessPicture.foreignThreads().first {
                guard try GoRuntime.isDeclared(stage) else {
                    let fix = "start threads in open() or in a run, and join them in close()"
                    throw Finding.failed(
                        "it starts a thread while it is loaded, \"\(thread.value)\"",
                        fix: try stage.image().concerns.contains(.goRuntime)
                            ? "it has the runtime of Go: write runtime=go into its note" : fix
                    )
                }
                try GoRuntime.requireRest(
                    "before it is opened",
                    fix: "start goroutines in a run, and not in init()"
                )
            }
            guard ProcessPicture.children().isEmpty else {
                throw Finding.failed(
                    "it starts a process while it is loaded",
                    fix: "take fork() and posix_spawn() out of its constructors and its entry"
                )
            }
        },
        Check(
            "load-state",
            "it changes nothing of the process while it is loaded",
            level: 4,
            .plugin,
            needs: ["table"],
            body: state
        ),
        Check(
            "load-cost",
            "it is loaded with less than 100 ms of processor time and 64 MiB of memory",
            level: 4,
            .plugin,
            needs: ["table"],
            attempts: 3,
            body: cost
        ),
    ]

    /// Runs the constructors and the entry function, and nothing else.
    private static func loadAndEnter(_ stage: Stage) throws(Finding) {
        let host = table()
        let mapped = try stage.map()
        stage.phase("bghost_plugin_v1()")
        // The checks of the table judge what it returns.
        _ = mapped.entry(host)
        // A new thread is visible at once, but the effects of a constructor's thread may need a
        // moment.
        grantTime(milliseconds: 20)
    }

    /// A host table of a runtime without a plugin.
    private static func table() -> UnsafePointer<bg_host> {
        var options = PluginRuntime.Options(
            slotCount: 1,
            threadsForBlocking: false,
            isWorker: true,
            dataDirectory: "/",
            config: "{}",
            hostVersion: "check"
        )
        options.servesMain = true
        let runtime = PluginRuntime(options: options, events: RunRecorder(.prompt, answers: Line()))
        return UnsafePointer(runtime.table)
    }

    private static func state(_ stage: Stage) throws(Finding) {
        let host = table()
        let before = (ProcessPicture.signals(), ProcessPicture.state())
        let descriptors = Set(ProcessPicture.descriptors().keys)
        let mapped = try stage.map()
        stage.phase("bghost_plugin_v1()")
        // The checks of the table judge what it returns.
        _ = mapped.entry(host)
        var signals = ProcessPicture.signals()
        if try GoRuntime.isDeclared(stage) {
            GoRuntime.forgetHandlers(in: &signals, as: before.0, of: stage.order.file)
            GoRuntime.forgetStack(in: &signals, as: before.0)
        }
        let changes =
            before.0.changes(to: signals) + before.1.changes(to: ProcessPicture.state())
        if let first = changes.first {
            throw Finding.failed(
                "loading it changes the process: \(first)",
                fix: "take this out of its constructors and its entry; if a library does it, load"
                    + " that library in open()"
            )
        }
        let opened = ProcessPicture.descriptors().filter { !descriptors.contains($0.key) }
        guard let first = opened.first else { return }
        throw Finding.failed(
            "loading it leaves a descriptor open: \(first.value)",
            fix: "open files and sockets in open() or in a run"
        )
    }

    private static func cost(_ stage: Stage) throws(Finding) {
        let host = table()
        // Measure processor time, since a busy machine is not the plugin's fault. Subtract the
        // inspection of the file, which precedes loading.
        let before = processorTime()
        _ = try stage.image()
        let start = processorTime()
        let memory = bgs_allocated()
        let mapped = try stage.map()
        // The checks of the table judge what it returns.
        _ = mapped.entry(host)
        let took = (processorTime() - start - (start - before)) / 1_000_000
        if took > 100 {
            throw Finding.warned(
                "loading it takes \(took) ms of processor time; each worker does it",
                fix: "do less in constructors, and link less: `ldd` shows what comes along"
            )
        }
        let taken = bgs_allocated() &- memory
        guard taken < 1 << 62, taken > 64 << 20 else { return }
        throw Finding.warned(
            "loading it allocates \(taken >> 20) MiB",
            fix: "allocate in open() or in a run, and only what that needs"
        )
    }

    private static func processorTime() -> Int64 { Int64(clamping: bgs_process_cpu_ns()) }
}

/// A plugin's text, quoted for a message.
func quoted(_ text: String) -> String {
    "\"" + text.prefix(80).replacing("\n", with: "\\n") + "\""
}
