// SPDX-License-Identifier: Apache-2.0

import BghostModel
import BghostTestSupport
import Testing

/// Manifests of fixtures.
enum TestManifest {
    /// All handlers of the fixture `misbehave`.
    static let misbehaviours =
        [
            "succeed", "echo", "fail", "retry", "progress", "report-and-wait", "stdout-lines",
            "params", "submit",
            "situation", "submit-many", "list-pending", "fail-finally", "stop-late",
            "state-and-release", "honour-cancel", "honour-cancel-poll", "honour-cancel-fd",
            "serial",
            "needs-worker", "ignore-cancel", "never-complete", "block-in-cancel", "spin",
            "cpu-burn",
            "sleep-forever", "complete-twice", "complete-after-cancel", "complete-late",
            "invent-completions", "unknown-status", "own-status", "oversized-result",
            "bad-json-result",
            "bad-utf8-message", "bad-result-pointer", "crash-in-start", "abort-in-start",
            "exit-in-start", "crash-in-release", "exit-thread", "write-rubbish", "forge-completion",
            "close-descriptors", "leak-descriptors", "flood-log", "flood-stdout", "flood-progress",
            "odd-calls", "allocate", "fork-in-group", "fork-children", "fork-without-end",
            "daemonize-without-end", "crash-with-daemons", "succeed-with-daemons",
            "run-with-daemons",
            "fall-silent", "ask-in-cancel", "fill-data", "crowd-data", "burrow-in-data",
            "giant-file", "heed-memory", "heed-cpu", "flood-reports", "flood-taken", "flood-ends",
            "print-and-stay",
        ] + hostilities.map(\.handler)

    /// Handlers of `misbehave` that end soon after they are cancelled.
    private static let endsWhenCancelled: Set = [
        "honour-cancel", "honour-cancel-fd", "honour-cancel-poll", "complete-after-cancel",
        "serial", "report-and-wait", "run-with-daemons", "ask-in-cancel", "crash-in-cancel",
        "exit-in-cancel",
    ]

    /// Every handler of the fixture `misbehave` as a task of its own name, and the tasks of
    /// ``witness``.
    ///
    /// - Parameter runtime: by default one that no test waits for; a run that a test ends must not end by itself
    ///   on a busy machine.
    /// - Parameter grace: by default short for handlers that use all of it, and long for those that end
    ///   by themselves, so that a busy machine does not kill them.
    /// - Parameter limited: the handlers that have these two; others have the default ones. `nil` means all.
    static func misbehave(
        runtime: Duration = .seconds(600),
        grace: Duration? = nil,
        only limited: Set<String>? = nil,
        isolation: Isolation = .worker,
        runsPerWorker: Int = 1,
        prestart: Int = 0,
        limits: WorkerLimits = WorkerLimits(),
        maxPending: PendingLimits = PendingLimits(refresh: 1000, processing: 1000),
        overlap: Overlap = .queue,
        slots: Int? = nil
    ) throws -> Manifest {
        var manifest = try witness()
        manifest.host.slots = slots
        manifest.plugins.append(
            PluginDefinition(
                name: "misbehave",
                library: try Fixture.library("misbehave"),
                isolation: isolation,
                runsPerWorker: runsPerWorker,
                prestart: prestart,
                limits: limits,
                maxPending: maxPending
            )
        )
        for handler in misbehaviours {
            let usual: Duration =
                endsWhenCancelled.contains(handler) ? .seconds(60) : .milliseconds(200)
            let isLimited = limited?.contains(handler) ?? true
            manifest.tasks.append(
                try task(
                    handler,
                    "misbehave",
                    handler,
                    isLimited
                        ? RunLimits(runtime: runtime, grace: grace ?? usual)
                        : RunLimits(runtime: .seconds(600), grace: usual),
                    overlap: overlap
                )
            )
        }
        return manifest
    }

    /// Every handler of `misbehave`, of which `fail` is tried twice.
    static func failingTwice(after base: Duration) throws -> Manifest {
        var manifest = try misbehave()
        let index = try #require(
            manifest.tasks.firstIndex { $0.identifier.description == "fail" }
        )
        manifest.tasks[index].retry = RetryPolicy(
            backoff: .exponential(base: base, cap: .seconds(3600)),
            attemptsMax: 2
        )
        return manifest
    }

    /// One plugin from one fixture, with its handler `succeed` as the task `task`.
    static func plugin(
        _ name: String,
        library: String,
        handler: String = "succeed",
        limits: WorkerLimits = WorkerLimits(),
        grace: Duration = .milliseconds(200)
    ) throws -> Manifest {
        var manifest = try witness()
        manifest.plugins.append(
            PluginDefinition(name: name, library: library, limits: limits)
        )
        manifest.tasks.append(
            try task(
                "task",
                name,
                handler,
                RunLimits(runtime: .seconds(600), grace: grace)
            )
        )
        return manifest
    }

    /// One handler of the Swift plugin `RuntimePlugin` as the task `task`, and
    /// one that ends only when it is cancelled as `long`.
    static func runtime(
        _ handler: String,
        grace: Duration = .seconds(60),
        runsPerWorker: Int = 1
    ) throws -> Manifest {
        var manifest = try plugin(
            "runtime",
            library: Artifact.path("libRuntimePlugin.so"),
            handler: handler
        )
        let limits = RunLimits(runtime: .seconds(600), grace: grace)
        manifest.plugins[manifest.plugins.count - 1].runsPerWorker = runsPerWorker
        manifest.tasks[manifest.tasks.count - 1].limits = limits
        manifest.tasks.append(try task("long", "runtime", "main-until-cancelled", limits))
        manifest.host.slots = 4
        return manifest
    }

    /// A plugin and a function that do as they should: `witness.echo` and `witness.nap`.
    static func witness() throws -> Manifest {
        Manifest(
            plugins: [
                PluginDefinition(name: "witness", library: try Fixture.library("misbehave"))
            ],
            functions: [
                FunctionDefinition(
                    name: "nap",
                    library: "libc.so.6",
                    symbol: "usleep",
                    signature: "int(microseconds: uint = 5000) == 0"
                )
            ],
            tasks: [
                try task("witness.echo", "witness", "echo", nil),
                TaskDefinition(
                    identifier: try pattern("witness.nap"),
                    handler: .function(name: "nap")
                ),
            ]
        )
    }

    static func task(
        _ identifier: String,
        _ plugin: String,
        _ handler: String,
        _ limits: RunLimits?,
        overlap: Overlap = .queue
    ) throws -> TaskDefinition {
        TaskDefinition(
            identifier: try pattern(identifier),
            handler: .plugin(name: plugin, handler: handler),
            limits: limits,
            overlap: overlap
        )
    }

    static func pattern(_ text: String) throws -> IdentifierPattern {
        try #require(IdentifierPattern(text))
    }
}
