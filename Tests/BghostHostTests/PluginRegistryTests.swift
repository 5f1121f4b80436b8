// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostConfiguration
import BghostDispatch
@testable import BghostHost
import BghostLinux
@testable import BghostModel
import BghostOwnerSupport
@testable import BghostPolicy
import BghostStore
import Testing

/// Pauses and quarantines of plugins, without a process.
@Suite(.timeLimit(.minutes(5))) struct PluginRegistryTests {
    @Test func `A paused plugin starts no run until its pause has ended`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            let registry = daemon.owners.registry
            registry.pause(daemon.plugin, "its worker ended", until: registry.now + 1)
            #expect(daemon.plugin.problem?.isPause == true)
            try await daemon.submit()
            #expect(daemon.executor.started.isEmpty)
            daemon.passDeadlines()
            #expect(daemon.plugin.problem == nil && daemon.executor.started.count == 1)
        }
    }

    @Test func `A plugin that crashes too often is quarantined, and that is stored`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor) { $0.timeouts.crashes.pause = 0 }
            let registry = daemon.owners.registry
            for number in 1...5 {
                #expect(!registry.crashes.isQuarantined("plugin"), "before crash \(number)")
                registry.crashed(daemon.plugin, "its worker ended")
            }
            #expect(registry.crashes.isQuarantined("plugin"))
            let message = try #require(daemon.plugin.problem?.message)
            #expect(message.hasPrefix("its worker ended; 5 crashes in 10 min; quarantined until"))
            #expect(daemon.executor.isAskedToFinish)
            await ReactorActor.wait { daemon.store.quarantined == ["plugin"] }
            // It starts nothing, however long it waits.
            try await daemon.submit()
            daemon.passDeadlines()
            #expect(daemon.executor.started.isEmpty)
            #expect(registry.lift(daemon.plugin) != nil)
            #expect(registry.lift(daemon.plugin) == nil)
        }
    }

    @Test func `A load that fails again and again quarantines the plugin`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            let registry = daemon.owners.registry
            registry.loadFailed(daemon.plugin, "bghost_plugin_v1 is absent")
            let first = try #require(daemon.plugin.problem)
            #expect(!first.isPause && first.retryAt == registry.now + registry.timeouts.loadBackoff)
            registry.loadFailed(daemon.plugin, "bghost_plugin_v1 is absent")
            let second = try #require(daemon.plugin.problem)
            #expect(second.retryAt == registry.now + 2 * registry.timeouts.loadBackoff)
            registry.loadFailed(daemon.plugin, "bghost_plugin_v1 is absent")
            #expect(registry.crashes.isQuarantined("plugin"))
            #expect(daemon.events.count { $0 == "plugin.load_failed" } == 3)
        }
    }

    @Test func `A failed load of a replaced version says nothing about the next one`()
        async throws
    {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            let old = daemon.plugin
            daemon.owners.plugins.retire(old)
            for _ in 1...5 { daemon.owners.registry.loadFailed(old, "it ended its worker") }
            #expect(!daemon.owners.registry.crashes.isQuarantined("plugin"))
            #expect(old.problem?.retryAt == .never)
        }
    }
}

extension MemoryStore {
    /// The names of the plugins whose quarantine is stored.
    fileprivate var quarantined: [String] {
        let state = try? recover(expecting: { _ in }, { _ in })
        return (state?.quarantines ?? []).map(\.plugin)
    }
}
