// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
@testable import BghostPolicy
import BghostSimulation
import Testing

/// The definitions of earlier manifests are dropped when nothing needs them.
@Suite struct ReleasedDefinitionsTests {
    private typealias Hand = SchedulerHand

    private static let taskCount = 20

    /// A manifest in which every plugin, handler and task has changed since the last number.
    private static func manifest(
        _ number: Int,
        runtimePerDay: RuntimePerDay = RuntimePerDay()
    ) throws -> Manifest {
        Manifest(
            plugins: (0..<4).map {
                PluginDefinition(
                    name: "plugin\($0)",
                    library: "plugin\(number).so",
                    maxPending: PendingLimits(refresh: 1000, processing: 1000),
                    runtimePerDay: runtimePerDay
                )
            },
            tasks: try (0..<taskCount).map { index in
                TaskDefinition(
                    identifier: try #require(
                        IdentifierPattern(index % 2 == 0 ? "a.\(index)" : "f\(index).*")
                    ),
                    handler: .plugin(name: "plugin\(index % 4)", handler: "h\(number).\(index)"),
                    priority: number % 1000
                )
            }
        )
    }

    @Test(.timeLimit(.minutes(5)))
    func `After a thousand reloads only current and used definitions remain`() throws {
        var hand = Hand(try Self.manifest(0), slots: 8)
        let later = Hand.hour
        for number in 1...1000 {
            // A run that begins under each manifest and ends under the next one, and a request that waits.
            try hand.submit(Submission(task: "a.0"))
            try hand.submit(Submission(task: "f1.\(number)"))
            try hand.submit(
                Submission(task: "f3.\(number)", earliestBegin: hand.now.unix + later)
            )
            #expect(hand.running == ["a.0", "f1.\(number)"])
            hand.reload(try Self.manifest(number), slots: 8)
            try hand.end(after: 1)
            try hand.end(after: 1)
            hand.perform { _ = $0.withdraw("f3.\(number)", now: $1, &$2) }
        }
        let catalog = hand.scheduler.catalog
        // Definitions of two manifests, and of the runs in progress at a reload.
        #expect(catalog.tasks.count <= 2 * Self.taskCount + 2)
        #expect(catalog.handlers.count <= 2 * Self.taskCount + 2)
        #expect(catalog.plugins.count <= 10)
        #expect(catalog.handlerIndices.count <= Self.taskCount + 2)
        #expect(hand.scheduler.gates.plugins.count == catalog.plugins.count)
        #expect(hand.scheduler.gates.handlers.count == catalog.handlers.count)
        let index = hand.scheduler.pendingIndex
        #expect(index.groups.count <= 10 && index.submitted.count <= 40 && index.held.count <= 10)
        #expect(index.handlerQueues.count <= 2 * Self.taskCount + 2)
        #expect(index.entries.kindCount <= Self.taskCount)
        #expect(index.entries.indices.count <= 15)
        #expect(hand.memories.isEmpty)
    }

    @Test func `A run keeps its definition over many reloads`() throws {
        var hand = Hand(try Self.manifest(0))
        try hand.submit(Submission(task: "a.0"))
        let task = try #require(hand.begun.first?.task)
        for number in 1...10 { hand.reload(try Self.manifest(number)) }
        let catalog = hand.scheduler.catalog
        #expect(catalog.tasks[task].handler == .plugin(name: "plugin0", handler: "h0.0"))
        #expect(!catalog.permits(task: task))
        try hand.end(after: 1)
        hand.reload(try Self.manifest(11))
        hand.reload(try Self.manifest(12))
        #expect(
            !hand.scheduler.catalog.tasks.contains {
                $0.handler == .plugin(name: "plugin0", handler: "h0.0")
            }
        )
    }

    @Test func `A plugin that the host still needs keeps its index`() throws {
        var hand = Hand(try Self.manifest(0))
        let former = try #require(hand.scheduler.catalog.currentPlugins["plugin0"])
        hand.reload(try Self.manifest(1), keeping: [former])
        let outcome = hand.reload(try Self.manifest(2), keeping: [former])
        #expect(!outcome.change.newPlugins.contains(former))
        #expect(!outcome.change.unusedPlugins.contains(former))
        #expect(hand.scheduler.catalog.plugins[former].name == "plugin0")
        let released = hand.reload(try Self.manifest(3))
        #expect(released.change.unusedPlugins.contains(former))
        let reused = hand.reload(try Self.manifest(4))
        #expect(reused.change.newPlugins.contains(former))
    }

    @Test func `A plugin that reuses an index inherits no state`() throws {
        var hand = Hand(try Self.manifest(0))
        let former = try #require(hand.scheduler.catalog.currentPlugins["plugin0"])
        hand.perform { $0.plugin(former, hasProblem: "broken", now: $1, &$2) }
        try hand.submit(Submission(task: "a.0"))
        #expect(hand.begun.isEmpty)
        hand.reload(try Self.manifest(1))
        #expect(hand.running == ["a.0"])
        try hand.end(after: 1)
        let change = hand.reload(try Self.manifest(2)).change
        #expect(change.newPlugins.contains(former))
        #expect(hand.scheduler.gates.isUsable(former) && hand.scheduler.gates.isEnabled(former))
        try hand.submit(Submission(task: "a.0"))
        #expect(hand.running == ["a.0"])
    }

    @Test func `A handler that a task names after its plugin was loaded is known at once`() throws {
        func manifest(_ tasks: [String]) throws -> Manifest {
            var manifest = try Hand.manifest()
            manifest.tasks = try tasks.map {
                TaskDefinition(
                    identifier: try #require(IdentifierPattern("\($0).*")),
                    handler: .plugin(name: "plugin", handler: $0)
                )
            }
            return manifest
        }
        var hand = Hand(try manifest(["a"]))
        hand.perform { $0.pluginLoaded(0, serial: ["a"], now: $1, &$2) }
        hand.reload(try manifest(["b"]))
        hand.reload(try manifest(["a", "b"]))
        for number in 0..<2 {
            try hand.submit(Submission(task: "a.\(number)"))
            try hand.submit(Submission(task: "b.\(number)"))
        }
        #expect(hand.running == ["a.0", "b.0", "b.1"])
    }

    @Test func `A replayed reload keeps the same plugins`() throws {
        let manifests = try (0..<20).map { try Self.manifest($0) }
        var hand = Hand(manifests[0], slots: 3)
        for number in 1..<20 {
            for name in ["a.0", "a.2", "f1.x", "f1.y", "f3.x"] {
                try hand.submit(Submission(task: name, parameters: #"{"n":\#(number)}"#))
            }
            hand.reload(manifests[number], slots: 3, keeping: number % 3 == 0 ? [number % 4] : [])
            try hand.end(after: 1)
            try hand.end(after: 1)
        }
        var replay = SchedulerReplay(Hand.settings(manifests[0], slots: 3), later: manifests)
        try hand.expectTheSame(of: &replay)
    }

    // MARK: Families

    @Test func `The longest family of ten thousand is found by the dots of the identifier`() throws
    {
        var manifest = try Hand.manifest()
        let patterns =
            (0..<10_000).map { "org.example.f\($0).*" } + [
                "org.*", "org.example.*", "org.example.f7.own",
            ]
        manifest.tasks = try patterns.map { pattern in
            TaskDefinition(
                identifier: try #require(IdentifierPattern(pattern)),
                handler: .plugin(name: "plugin", handler: "h")
            )
        }
        let catalog = TaskCatalog(manifest)
        func pattern(_ identifier: String) -> String? {
            catalog.task(for: identifier).map { catalog.tasks[$0].identifier.description }
        }
        #expect(pattern("org.example.f9999.x.y") == "org.example.f9999.*")
        #expect(pattern("org.example.f10000.x") == "org.example.*")
        #expect(pattern("org.other") == "org.*")
        #expect(pattern("org.example.f7.own") == "org.example.f7.own")
        #expect(pattern("org") == nil && pattern("org.") == nil && pattern("") == nil)
        #expect(pattern("org.example.f7.ä") == nil && pattern("org..x") == nil)
        #expect(catalog.isFamily("org.example.f7.*") && !catalog.isFamily("org.example.f7"))
        #expect(!catalog.isFamily("org.example.f7.own"))
        // The work: one lookup for each beginning that ends with a dot.
        #expect(Array(TaskCatalog.stems(of: "a.b.c")) == ["a.b.", "a."])
        #expect(Array(TaskCatalog.stems(of: String(repeating: "a.", count: 5000))).isEmpty)
    }
}
