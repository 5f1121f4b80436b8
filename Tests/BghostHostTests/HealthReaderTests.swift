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
@testable import BghostServices
@testable import BghostStore
import Synchronization
import Testing

/// The owner that checks the daemon's health, without a process.
@Suite(.timeLimit(.minutes(5))) struct HealthReaderTests {
    private static func check(
        _ report: HealthReport,
        _ name: String
    ) -> HealthReport.Check? { report.checks.first { $0.name == name } }

    @Test func `A daemon without trouble passes all checks, and they change nothing`()
        async throws
    {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            let health = HostCommands(daemon.owners).health
            let events = daemon.events
            var before = ""
            dump(daemon.owners.dispatcher.scheduler, to: &before)
            let report = await health.health()
            var after = ""
            dump(daemon.owners.dispatcher.scheduler, to: &after)
            #expect(before == after && daemon.events == events)
            // The room on the disk of this machine is another matter.
            let others = report.checks.filter { $0.name != "disk" && $0.name != "clock" }
            #expect(others.allSatisfy { $0.state == .ok }, "\(others)")
            #expect(others.map(\.name) == ["reactor", "store", "drain", "plugins"])
            #expect(health.readiness.ready)
        }
    }

    @Test func `Each plugin that cannot be used is a warning, a replaced version is none`()
        async throws
    {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor) { $0.timeouts.crashes.pause = 0 }
            let health = HostCommands(daemon.owners).health
            daemon.plugin.problem = PluginProblem(message: "it is broken")
            let broken = await health.health()
            #expect(Self.check(broken, "plugins") == nil)
            #expect(
                Self.check(broken, "plugin")?.message
                    == "plugin plugin cannot be used: it is broken"
            )
            #expect(Self.check(broken, "plugin")?.state == .warning)
            for _ in 1...5 { daemon.owners.registry.crashed(daemon.plugin, "its worker ended") }
            let quarantined = Self.check(await health.health(), "plugin")
            #expect(quarantined?.message.contains("is quarantined") == true)
            #expect(quarantined?.since != nil)
            // A plugin that cannot be used does not keep the daemon from its work.
            #expect(health.readiness.ready)
            daemon.owners.plugins.retire(daemon.plugin)
            #expect(Self.check(await health.health(), "plugins")?.message == "no plugin")
        }
    }

    @Test func `The manifest on the disk is compared with the one in force`() async throws {
        let file = Mutex(RereadManifest(manifest: nil, diagnostics: []))
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor) { configuration in
                configuration.rereadManifest = { file.withLock { $0 } }
            }
            let health = HostCommands(daemon.owners).health
            var current = daemon.owners.manifest.value
            current.digest = "another comment"
            var changed = current
            changed.tasks[0].priority = 3
            let readings = [
                (RereadManifest(manifest: nil, diagnostics: []), "has errors"),
                (RereadManifest(manifest: current, diagnostics: []), "is in force"),
                (RereadManifest(manifest: changed, diagnostics: []), "differs from"),
                (RereadManifest(manifest: current, diagnostics: [], doubt: "others"), "others"),
            ]
            for (reading, message) in readings {
                file.withLock { $0 = reading }
                let check = Self.check(await health.health(), "manifest")
                #expect(check?.message.contains(message) == true, "\(String(describing: check))")
                #expect((check?.state == .ok) == (message == "is in force"))
            }
        }
    }

    @Test func `A daemon that stops or cannot store is not ready`() async throws {
        try await ReactorActor.run { actor in
            let disk = ScriptedStore()
            let daemon = try TestOwners(actor.reactor, otherStore: disk)
            let health = HostCommands(daemon.owners).health
            #expect(health.readiness.ready)
            let failure = StoreHealth.Failure(
                since: 77,
                error: StoreError("the disk is full", kind: .full),
                isFinal: false
            )
            await disk.setHealth(StoreHealth(failure: failure, waiting: 1, isPressed: true))
            #expect(health.readiness.reasons.map(\.word) == ["store"])
            #expect(health.readiness.reasons.first?.since == 77)
            let store = Self.check(await health.health(), "store")
            #expect(store?.state != .ok && store?.message.contains("the disk is full") == true)
            daemon.owners.dispatcher.decide { scheduler, now, _ in scheduler.drain(now: now) }
            #expect(Set(health.readiness.reasons.map(\.word)) == ["stopping", "store"])
            #expect(Self.check(await health.health(), "drain")?.state == .warning)
        }
    }
}
