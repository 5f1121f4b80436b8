// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostConfiguration
import BghostDispatch
@testable import BghostHost
import BghostLinux
@testable import BghostModel
import BghostOwnerSupport
import BghostPolicy
import BghostTestSupport
import Dispatch
import Synchronization
import Testing

/// Reloads of manifests whose plugins need no inspection, without a process.
@Suite(.timeLimit(.minutes(5))) struct ManifestReloaderTests {
    /// The file of the manifest, as the test writes it.
    private final class File: Sendable {
        private let content = Mutex<Manifest?>(nil)
        let isBeingRead = Atomic(false)
        /// Continues a reload that has started to read.
        let mayBeRead = DispatchSemaphore(value: 0)

        func write(_ manifest: Manifest?) { content.withLock { $0 = manifest } }

        func read() -> RereadManifest {
            isBeingRead.store(true, ordering: .releasing)
            mayBeRead.wait()
            defer { mayBeRead.signal() }
            return RereadManifest(manifest: content.withLock(\.self), diagnostics: [])
        }
    }

    private static func makeDaemon(_ reactor: Reactor, _ file: File) throws -> TestOwners {
        try TestOwners(reactor) { $0.rereadManifest = { file.read() } }
    }

    /// The manifest of the daemon, with another task of the same handler.
    private static func withAnotherTask() throws -> Manifest {
        var manifest = SampleManifest.make { $0.retry.attemptsMax = 1 }
        manifest.tasks.append(
            TaskDefinition(
                identifier: try #require(IdentifierPattern("other")),
                handler: .plugin(name: "plugin", handler: "backup")
            )
        )
        return manifest
    }

    @Test func `A reload adds a task while a run continues`() async throws {
        let file = File()
        file.mayBeRead.signal()
        try await ReactorActor.run { actor in
            let daemon = try Self.makeDaemon(actor.reactor, file)
            let run = try await daemon.run()
            file.write(try Self.withAnotherTask())
            let report = try await daemon.owners.reloader.reload()
            #expect(report.tasks.added == ["other"] && report.tasks.removed.isEmpty)
            #expect(report.plugins.changed.isEmpty && daemon.plugin.isRetired == false)
            #expect(daemon.newestRun === run)
            daemon.end(run)
            _ = try await daemon.run("other")
            #expect(daemon.events.contains("manifest.reloaded"))
            // The log escapes line breaks.
            #expect(report.logText.contains("; + task other"))
            #expect(!report.logText.contains("\n"))
        }
    }

    @Test func `A manifest with an error changes nothing`() async throws {
        let file = File()
        file.mayBeRead.signal()
        try await ReactorActor.run { actor in
            let daemon = try Self.makeDaemon(actor.reactor, file)
            await #expect(throws: OperatorRefusal.self) {
                _ = try await daemon.owners.reloader.reload()
            }
            #expect(daemon.events.last == "manifest.refused")
            #expect(daemon.owners.manifest.value.tasks.count == 1)
            _ = try await daemon.run()
        }
    }

    @Test func `A dry run changes nothing, and says what the reload then does`() async throws {
        let file = File()
        file.mayBeRead.signal()
        try await ReactorActor.run { actor in
            let daemon = try Self.makeDaemon(actor.reactor, file)
            let run = try await daemon.run()
            var wanted = try Self.withAnotherTask()
            wanted.tasks[0].priority = 3
            wanted.host.slots = 9
            file.write(wanted)
            let events = daemon.events
            var before = ""
            dump(daemon.owners.dispatcher.scheduler, to: &before)
            let report = try await daemon.owners.reloader.dryRun()
            var after = ""
            dump(daemon.owners.dispatcher.scheduler, to: &after)
            #expect(after == before && daemon.events == events)
            #expect(daemon.owners.manifest.value.tasks.count == 1)
            #expect(report.dryRun && report.tasks.added == ["other"])
            #expect(report.tasks.changed == ["backup"] && report.host == ["slots"])
            #expect(daemon.newestRun === run)
            daemon.end(run)
            var reloaded = try await daemon.owners.reloader.reload()
            reloaded.dryRun = true
            #expect(reloaded == report)
        }
    }

    @Test func `A dry run is refused as the reload would be, and holds up none`() async throws {
        let file = File()
        try await ReactorActor.run { actor in
            let daemon = try Self.makeDaemon(actor.reactor, file)
            var wanted = try Self.withAnotherTask()
            wanted.host.controlSocket = "/run/other.sock"
            file.write(wanted)
            let first = Task {
                _ = actor
                return try await daemon.owners.reloader.dryRun()
            }
            await ReactorActor.wait { file.isBeingRead.load(ordering: .acquiring) }
            let second = await #expect(throws: OperatorRefusal.self) {
                _ = try await daemon.owners.reloader.dryRun()
            }
            #expect(second?.message == "another dry run of a reload is under way")
            let reload = Task {
                _ = actor
                return try await daemon.owners.reloader.reload()
            }
            file.mayBeRead.signal()
            let dry = await #expect(throws: OperatorRefusal.self) { _ = try await first.value }
            let real = await #expect(throws: OperatorRefusal.self) { _ = try await reload.value }
            #expect(dry?.code == .needsRestart && dry?.candidates == real?.candidates)
            #expect(daemon.events.filter { $0 == "manifest.refused" }.count == 1)
        }
    }

    @Test func `A reload with a change that needs a restart is refused as a whole`() async throws {
        let file = File()
        file.mayBeRead.signal()
        try await ReactorActor.run { actor in
            let daemon = try Self.makeDaemon(actor.reactor, file)
            var wanted = try Self.withAnotherTask()
            wanted.host.controlSocket = "/run/other.sock"
            file.write(wanted)
            let refusal = await #expect(throws: OperatorRefusal.self) {
                _ = try await daemon.owners.reloader.reload()
            }
            let change = "`host.control` is not given and would be /run/other.sock"
            #expect(refusal?.candidates == [change])
            #expect(daemon.owners.manifest.value.tasks.count == 1)
        }
    }

    /// The keys of the schema, without those that no version honours yet.
    @Test func `Each key of host is decided about`() throws {
        let schema = try JSONReader.parse(
            String(
                decoding: try BghostTestSupport.File.read(
                    PackageRoot.path + "/Config/tasks.schema.json"
                ),
                as: UTF8.self
            )
        )
        let keys = schema["properties"]?["host"]?["properties"]?.object ?? []
        let honoured = keys.filter { $0.value["not"] == nil }.map(\.key)
        #expect(honoured.sorted() == HostKey.allCases.map(\.rawValue).sorted())
    }

    @Test func `A reload applies the battery policy, but no sandbox or access`()
        async throws
    {
        let file = File()
        file.mayBeRead.signal()
        try await ReactorActor.run { actor in
            let daemon = try Self.makeDaemon(actor.reactor, file)
            var wanted = try Self.withAnotherTask()
            wanted.host.require = [.seccomp, .landlock]
            wanted.host.controlGroup = "staff"
            wanted.host.controlRole = .operate
            wanted.host.powerPolicy = .lowBattery
            file.write(wanted)
            let refusal = await #expect(throws: OperatorRefusal.self) {
                _ = try await daemon.owners.reloader.reload()
            }
            #expect(
                refusal?.candidates == [
                    "`host.controlGroup` is not given and would be staff",
                    "`host.controlRole` is read and would be operate",
                    "`host.require` is not given and would be landlock, seccomp",
                ]
            )
            wanted.host = HostSettings(powerPolicy: .lowBattery)
            wanted.host.slots = daemon.owners.manifest.value.host.slots
            file.write(wanted)
            let report = try await daemon.owners.reloader.reload()
            #expect(report.host == ["powerPolicy"])
        }
    }

    @Test func `A second reload is refused while the first one is under way`() async throws {
        let file = File()
        try await ReactorActor.run { actor in
            let daemon = try Self.makeDaemon(actor.reactor, file)
            file.write(try Self.withAnotherTask())
            let first = Task {
                _ = actor
                return try await daemon.owners.reloader.reload()
            }
            await ReactorActor.wait { file.isBeingRead.load(ordering: .acquiring) }
            let refusal = await #expect(throws: OperatorRefusal.self) {
                _ = try await daemon.owners.reloader.reload()
            }
            #expect(refusal?.message == "another reload is under way")
            file.mayBeRead.signal()
            #expect(try await first.value.tasks.added == ["other"])
        }
    }

    @Test func `The log says what a start took up once the audit has it`() async throws {
        try await ReactorActor.run { actor in
            func manifest(_ every: String) -> Manifest {
                var manifest = SampleManifest.make { $0.retry.attemptsMax = 1 }
                manifest.written = WrittenDefinitions([
                    WrittenDefinition(.task, "backup", [("every", every)])
                ])
                return manifest
            }
            let store = ScriptedStore()
            let daemon = try TestOwners(
                actor.reactor,
                manifest: manifest("2h"),
                otherStore: store
            )
            let note = Task {
                _ = actor
                await daemon.owners.reloader.noteStart(since: KeptManifest(manifest("1h")).text)
            }
            func isNoted(_ changes: [StoreChange]) -> Bool {
                changes.contains {
                    if case .audited(let entry) = $0 { entry.verb == "start" } else { false }
                }
            }
            await ReactorActor.wait { store.commits.contains { isNoted($0.changes) } }
            for _ in 0..<100 { await Task.yield() }
            #expect(!daemon.events.contains("manifest.changed"))
            await store.answerAll(.success(()))
            await note.value
            #expect(daemon.events.contains("manifest.changed"))
        }
    }
}
