// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostConfiguration
import BghostDispatch
@testable import BghostHost
@testable import BghostInspection
import BghostLinux
@testable import BghostModel
import BghostOwnerSupport
@testable import BghostPolicy
@testable import BghostServices
import BghostWire
import Synchronization
import Testing

/// The work of the host's events with ten thousand tasks of a thousand plugins, counted.
@Suite(.timeLimit(.minutes(5))) struct ManyTasksTests {
    private static let pluginCount = 1000
    private static let taskCount = 10_000

    private static func manifest() throws -> Manifest {
        Manifest(
            plugins: (0..<pluginCount).map {
                PluginDefinition(name: "plugin\($0)", library: "plugin\($0).so")
            },
            tasks: try (0..<taskCount).map {
                TaskDefinition(
                    identifier: try #require(IdentifierPattern("org.example.task\($0)")),
                    handler: .plugin(name: "plugin\($0 % pluginCount)", handler: "h"),
                    retry: RetryPolicy(kind: .refresh)
                )
            }
        )
    }

    private struct Work: Equatable {
        /// The plugins that the host's owners looked up, or were given in lists.
        var plugins: Int
        /// The identifiers and requests that the scheduler looked at.
        var entries: Int
        var rechecks: Int
        /// The identifiers whose task a reload looked for.
        var searches: Int
        /// The tasks that a reload looked at for their plugins.
        var tasks: Int

        static func - (a: Work, b: Work) -> Work {
            Work(
                plugins: a.plugins - b.plugins,
                entries: a.entries - b.entries,
                rechecks: a.rechecks - b.rechecks,
                searches: a.searches - b.searches,
                tasks: a.tasks - b.tasks
            )
        }
    }

    /// A daemon whose first plugin has an executor of the test's.
    private struct Subject {
        let daemon: TestOwners
        let commands: HostCommands
        let file: Mutexed

        /// The manifest that the next reload reads.
        final class Mutexed: Sendable {
            private let manifest: Mutex<Manifest>

            init(_ manifest: Manifest) { self.manifest = Mutex(manifest) }

            var value: Manifest {
                get { manifest.withLock(\.self) }
                set { manifest.withLock { $0 = newValue } }
            }
        }

        init(_ reactor: Reactor) throws {
            let manifest = try ManyTasksTests.manifest()
            let file = Mutexed(manifest)
            self.file = file
            daemon = try TestOwners(reactor, manifest: manifest) {
                $0.rereadManifest = { RereadManifest(manifest: file.value, diagnostics: []) }
            }
            for definition in manifest.plugins.dropFirst() {
                daemon.owners.registry.add(.plugin(definition))
            }
            commands = HostCommands(daemon.owners)
        }

        var work: Work {
            let scheduler = daemon.owners.dispatcher.scheduler
            return Work(
                plugins: daemon.owners.plugins.slotsGiven,
                entries: scheduler.pendingIndex.entriesVisited,
                rechecks: scheduler.pendingIndex.rechecks,
                searches: scheduler.identifierSearches,
                tasks: daemon.owners.reloader.tasksVisited
            )
        }
    }

    @Test func `A run from its submission to its end costs what it costs among few`() async throws {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            let before = subject.work
            for _ in 0..<10 {
                let run = try await subject.daemon.run("org.example.task0")
                subject.daemon.end(run)
            }
            let work = subject.work - before
            #expect(work.plugins <= 100 && work.entries <= 30 && work.rechecks <= 60, "\(work)")
        }
    }

    @Test func `A call, a crash and the load of a plugin do not look at the others`() async throws {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            let daemon = subject.daemon
            for number in 0..<100 {
                try await daemon.wait(for: "org.example.task\(number * 10 + number % 10)")
            }
            try await daemon.wait(for: "org.example.task0")
            let before = subject.work
            let call = Call(number: 1, run: 0, operation: .cancelAllPending)
            try daemon.owners.calls.called(call, by: daemon.executor)
            await ReactorActor.wait { !daemon.executor.replies.isEmpty }
            #expect(daemon.executor.replies.map(\.status) == [CallStatus.ok])
            let afterCall = subject.work - before
            #expect(afterCall.plugins <= 10 && afterCall.rechecks <= 10, "\(afterCall)")
            // A page of the identifiers in use, of which there are a hundred.
            #expect(afterCall.entries <= 110, "\(afterCall)")

            let beforeLoad = subject.work
            daemon.owners.pool.becameReady(
                daemon.executor,
                Ready(
                    id: "plugin0",
                    version: "1",
                    vendor: "",
                    handlers: [Ready.Handler(name: "h", flags: HandlerFlags.serial)]
                )
            )
            let load = subject.work - beforeLoad
            #expect(load.plugins <= 10 && load.entries <= 10 && load.rechecks <= 10, "\(load)")

            let beforeCrash = subject.work
            daemon.owners.registry.crashed(daemon.plugin, "its worker ended")
            let crash = subject.work - beforeCrash
            #expect(crash.plugins <= 10 && crash.entries <= 10 && crash.rechecks <= 10, "\(crash)")
        }
    }

    @Test func `The status of one task lists the plugins once, and a misspelled one none`()
        async throws
    {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            let before = subject.work
            let status = try await subject.commands.status.status(of: ["org.example.task7"])
            #expect(status.tasks.count == 1 && status.plugins.count == Self.pluginCount)
            let work = subject.work - before
            #expect(work.plugins <= Self.pluginCount + 10, "\(work)")
            #expect(work.entries == 0 && work.rechecks == 0)

            let beforeUnknown = subject.work
            let refusal = await #expect(throws: OperatorRefusal.self) {
                _ = try await subject.commands.status.status(of: ["org.exmaple.task7"])
            }
            #expect(refusal?.candidates == ["org.example.task7"])
            #expect(subject.work == beforeUnknown)
        }
    }

    @Test func `A reload that changes one task looks at each plugin and each task a few times`()
        async throws
    {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            for number in 0..<100 {
                try await subject.daemon.wait(for: "org.example.task\(number)")
            }
            var changed = subject.file.value
            changed.tasks[5].priority = 7
            subject.file.value = changed
            let before = subject.work
            let report = try await subject.daemon.owners.reloader.reload()
            #expect(report.tasks.changed == ["org.example.task5"])
            #expect(report.tasks.added.isEmpty && report.plugins.changed.isEmpty)
            let work = subject.work - before
            #expect(work.plugins <= 10 * Self.pluginCount, "\(work)")
            #expect(work.tasks == Self.taskCount && work.searches == 0, "\(work)")
            #expect(work.rechecks <= 10, "\(work)")
        }
    }
}
