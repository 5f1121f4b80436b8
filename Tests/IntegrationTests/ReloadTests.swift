// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostConfiguration
import BghostFacts
@testable import BghostHost
import BghostLinux
import BghostModel
import BghostPolicy
import BghostTestSupport
import Glibc
import Synchronization
import Testing

extension Integration {
    /// A reload of another manifest while real workers execute runs.
    @Suite struct ReloadTests {
        /// The manifest that the host reads in a reload.
        private final class Disk: Sendable {
            let manifest: Mutex<Manifest>

            init(_ manifest: Manifest) { self.manifest = Mutex(manifest) }
        }

        /// A daemon, and a way to have it take up another manifest.
        private func withReloads(
            _ manifest: Manifest,
            _ body:
                @escaping @Sendable (
                    RunningHost, @escaping @Sendable (Manifest) async throws -> ReloadReport
                ) async throws -> Void
        ) async throws {
            let disk = Disk(manifest)
            try await withDaemon(
                manifest,
                adjust: {
                    // These tests have what they change taken up themselves.
                    $0.timeouts.settle = 3_600_000_000_000
                    $0.rereadManifest = {
                        RereadManifest(manifest: disk.manifest.withLock { $0 }, diagnostics: [])
                    }
                }
            ) { daemon in
                try await body(daemon) { manifest in
                    disk.manifest.withLock { $0 = manifest }
                    return try await daemon.host.reload()
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run continues in its worker, and the next one gets a new worker`() async throws {
            let first = try TestManifest.misbehave(grace: .seconds(5))
            try await withReloads(first) { daemon, reload in
                let run = try await daemon.begin("honour-cancel")
                let old = try #require(run.pid)
                var second = first
                let index = try #require(second.plugins.firstIndex { $0.name == "misbehave" })
                second.plugins[index].config = #"{"other": true}"#
                let report = try await reload(second)
                #expect(report.plugins.changed == ["misbehave"])
                // All its tasks are carried out by the new one.
                #expect(report.tasks.changed.contains("echo"))
                #expect(await daemon.workers(of: "misbehave").contains(old))
                let echo = try await daemon.run("echo")
                #expect(echo.outcome == .succeeded)
                #expect(echo.pid != old)
                _ = await daemon.host.stop(run: run.id)
                #expect(try await daemon.end(of: run).outcome == .cancelledClean)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `An idle worker of a changed plugin gets no further run`() async throws {
            let first = try TestManifest.misbehave()
            try await withReloads(first) { daemon, reload in
                let before = try await daemon.run("echo")
                // As it was: it is used again.
                #expect(try await reload(first).isEmpty)
                #expect(try await daemon.run("echo").pid == before.pid)
                var second = first
                let index = try #require(second.plugins.firstIndex { $0.name == "misbehave" })
                second.plugins[index].runsPerWorker = 2
                _ = try await reload(second)
                #expect(try await daemon.run("echo").pid != before.pid)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A library that was replaced is loaded by new workers only`() async throws {
            let folder = try TemporaryDirectory()
            let library = folder.file("plugin.so")
            @Sendable func install(_ name: String) throws {
                try File.write(try File.read(try Fixture.library(name)), to: library + ".new")
                try #require(rename(library + ".new", library) == 0)
            }
            try install("misbehave")
            let manifest = try TestManifest.plugin("changing", library: library)
            try await withReloads(manifest) { daemon, reload in
                #expect(try await daemon.run("task").outcome == .succeeded)
                // It has no handler of that name.
                try install("mark")
                let refusal = await #expect(throws: OperatorRefusal.self) {
                    _ = try await reload(manifest)
                }
                #expect(refusal?.code == .badManifest)
                #expect(refusal?.candidates.first?.contains("no handler `succeed`") == true)
                // A refused reload changes nothing: the worker continues.
                #expect(try await daemon.run("task").outcome == .succeeded)
                try install("misbehave")
                let dry = try await daemon.host.dryReload()
                #expect(dry.plugins.changed == ["changing"])
                #expect(
                    dry.lines.contains(
                        "~ plugin changing: its library or its signer's key has changed"
                    )
                )
                #expect(dry.lines.contains("~ task task: changing has changed"))
                #expect(try await reload(manifest).plugins.changed == ["changing"])
                #expect(try await daemon.run("task").outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A reload adds and removes tasks and keeps pending requests`() async throws {
            let first = try TestManifest.misbehave()
            try await withReloads(first) { daemon, reload in
                let due = WallClock.now + 3_600_000_000_000
                let request = try await daemon.host.submit(
                    Submission(task: "echo", earliestBegin: due)
                )
                var second = first
                second.tasks.removeAll { $0.identifier.description == "echo" }
                let report = try await reload(second)
                #expect(report.tasks.removed == ["echo"] && report.parked == 1)
                #expect(await daemon.host.status().tasks.allSatisfy { $0.identifier != "echo" })
                let waiting = await daemon.host.pending(task: "echo", limit: 10).requests
                #expect(waiting.map(\.id) == [request.id])
                let words = try #require(waiting.first?.waitingFor.first)
                #expect(words.contains("no longer in the manifest"))
                #expect(try await reload(first).unparked == 1)
                let back = await daemon.host.pending(task: "echo", limit: 10).requests
                #expect(back.first?.waitingFor == ["its earliest begin date"])
                #expect(try await daemon.run("echo").outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `An unusable plugin refuses the whole reload`() async throws {
            let first = try TestManifest.misbehave()
            try await withReloads(first) { daemon, reload in
                var second = try TestManifest.misbehave(slots: 1)
                second.plugins.append(
                    PluginDefinition(
                        name: "broken",
                        library: try Fixture.library("crash-in-constructor"),
                        origin: SourceLocation(file: "tasks.json", line: 7, column: 5)
                    )
                )
                second.tasks.removeAll { $0.identifier.description == "echo" }
                let wanted = second
                let refusal = await #expect(throws: OperatorRefusal.self) {
                    _ = try await reload(wanted)
                }
                #expect(refusal?.code == .badManifest)
                #expect(refusal?.candidates.first?.hasPrefix("tasks.json:7:5: `broken`: ") == true)
                #expect(await daemon.host.status().slots != 1)
                #expect(try await daemon.run("echo").outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A change that needs a restart is refused by name`() async throws {
            var first = try TestManifest.misbehave(isolation: .inProcess, slots: 2)
            first.host.stateDirectory = "/var/lib/one"
            try await withReloads(first) { [first] daemon, reload in
                _ = try await daemon.run("succeed")
                func candidates(
                    _ change: (inout Manifest) -> Void
                ) async throws -> [String] {
                    var second = first
                    change(&second)
                    let wanted = second
                    let refusal = await #expect(throws: OperatorRefusal.self) {
                        _ = try await reload(wanted)
                    }
                    #expect(refusal?.code == .needsRestart)
                    return refusal?.candidates ?? []
                }
                let state = try await candidates { $0.host.stateDirectory = "/var/lib/two" }
                #expect(
                    state == [
                        "`host.stateDirectory` is /var/lib/one and would be /var/lib/two"
                    ]
                )
                let socket = try await candidates { $0.host.controlSocket = "/run/other.sock" }
                #expect(socket.first?.hasPrefix("`host.control`") == true)
                let plugin = try await candidates { manifest in
                    for index in manifest.plugins.indices
                    where manifest.plugins[index].name == "misbehave" {
                        manifest.plugins[index].config = #"{"a": 1}"#
                    }
                }
                #expect(
                    plugin == [
                        "`plugins.misbehave` is loaded into the daemon and would be changed"
                    ]
                )
                let slots = try await candidates { $0.host.slots = 3 }
                #expect(slots.first?.hasPrefix("`host.slots` would be 3") == true)
                #expect(try await daemon.run("succeed").outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `The host watches a requirement from the reload that adds it`() async throws {
            let first = try TestManifest.misbehave()
            try await withReloads(first) { daemon, reload in
                var second = first
                let index = try #require(
                    second.tasks.firstIndex { $0.identifier.description == "echo" }
                )
                second.tasks[index].requirements = .storage
                _ = try await reload(second)
                _ = try await daemon.host.simulate(fact: "storage=off")
                let request = try await daemon.host.submit(Submission(task: "echo"))
                #expect(request.waitingFor.first?.contains("storage") == true)
                // The simulation continues.
                second.host.slots = 3
                _ = try await reload(second)
                let waiting = await daemon.host.pending(task: "echo", limit: 10).requests
                #expect(waiting.map(\.id) == [request.id])
                _ = try await reload(first)
                let run = try #require(await daemon.host.waitForRun(ofRequest: request.id))
                #expect(run.outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A new battery policy blocks requests until it is removed`()
            async throws
        {
            let first = try TestManifest.misbehave()
            try await withReloads(first) { daemon, reload in
                var second = first
                second.host.powerPolicy = .lowBattery
                #expect(try await reload(second).host == ["powerPolicy"])
                _ = try await daemon.host.simulate(fact: "batteryNotLow=off")
                let request = try await daemon.host.submit(Submission(task: "echo"))
                #expect(request.waitingFor.first?.contains("`powerPolicy`") == true)
                _ = try await reload(first)
                let run = try #require(await daemon.host.waitForRun(ofRequest: request.id))
                #expect(run.outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(10)))
        func `Nothing is lost while manifests change under load`() async throws {
            let first = try TestManifest.misbehave(overlap: .allow)
            try await withReloads(first) { daemon, reload in
                var second = first
                for index in second.plugins.indices
                where second.plugins[index].name == "misbehave" {
                    second.plugins[index].config = #"{"a": 1}"#
                }
                second.tasks.removeAll { $0.identifier.description == "params" }
                let (even, odd) = (first, second)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        for round in 1...8 {
                            _ = try await reload(round % 2 == 0 ? even : odd)
                        }
                    }
                    for _ in 0..<4 {
                        group.addTask {
                            for _ in 0..<25 {
                                let run = try await daemon.run("echo")
                                #expect(run.outcome == .succeeded)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }
}
