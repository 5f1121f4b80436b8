// SPDX-License-Identifier: Apache-2.0

@testable import BghostHost
import BghostLinux
import BghostModel
import BghostServices
import BghostTestSupport
import Dispatch
import Testing

extension Integration {
    /// Resources of a host after its end.
    @Suite struct HostLifetimeTests {
        /// Longer than the few turns that a freed host takes; a host that is kept stays for ever.
        @Test(.timeLimit(.minutes(5)))
        func `A host is released after its end`() async throws {
            var owners: WeakOwners?
            try await withDaemon(TestManifest.misbehave()) { daemon in
                let run = try await daemon.run("succeed")
                #expect(run.outcome == .succeeded)
                owners = await daemon.host.weakOwners()
            }
            await owners?.areGone()
        }

        @Test(.timeLimit(.minutes(5)))
        func `An inspection that ends after its host changes nothing`() async throws {
            let gate = DispatchSemaphore(value: 0)
            var owners: WeakOwners?
            var manifest = try TestManifest.misbehave()
            manifest.plugins.append(.init(name: "absent", library: "absent.so"))
            try await withDaemon(manifest) { daemon in
                await daemon.host.hold(inspectionsUntil: gate)
                await daemon.host.beginInspection(ofPlugin: "absent")
                owners = await daemon.host.weakOwners()
            }
            // The host has ended, and its caller has let it go: the inspection alone keeps it.
            #expect(owners?.isGone == false)
            gate.signal()
            await owners?.areGone()
        }

        @Test(.timeLimit(.minutes(5)))
        func `Twenty hosts leave no descriptor open`() async throws {
            // In a process of its own, where no other test opens one.
            await #expect(processExitsWith: .success) {
                func openDescriptors() throws -> Int { try File.list("/proc/self/fd").count }
                func runHost() async throws {
                    var owners: WeakOwners?
                    try await withDaemon(TestManifest.misbehave()) { daemon in
                        owners = await daemon.host.weakOwners()
                    }
                    await owners?.areGone()
                }
                // The first host opens what a process has once.
                try await runHost()
                let before = try openDescriptors()
                for _ in 0..<20 { try await runHost() }
                // The last thread of a host may not have ended.
                while try openDescriptors() > before { await Task.yield() }
            }
        }
    }
}

/// Whether the owners of a host still exist.
struct WeakOwners: @unchecked Sendable {
    // @unchecked: the references are only compared with `nil`.

    fileprivate weak var host: Host?
    fileprivate weak var pool: WorkerPool?
    fileprivate weak var registry: PluginRegistry?
    fileprivate weak var transfers: AnyObject?
    fileprivate weak var dispatcher: AnyObject?

    var isGone: Bool {
        host == nil && pool == nil && registry == nil && transfers == nil && dispatcher == nil
    }

    /// Returns when none exists; the test's time limit bounds it.
    func areGone() async {
        while !isGone { await Task.yield() }
    }
}

extension Host {
    func weakOwners() -> WeakOwners {
        WeakOwners(
            host: self,
            pool: owners.pool,
            registry: owners.registry,
            transfers: owners.transfers,
            dispatcher: owners.dispatcher
        )
    }

    /// Lets the inspections that begin from now on wait.
    func hold(inspectionsUntil gate: DispatchSemaphore) {
        services.threads.thread(for: .inspection)?.perform { gate.wait() }
    }

    func beginInspection(ofPlugin name: String) {
        guard let plugin = owners.plugins[name] else { return }
        owners.registry.beginInspection(of: plugin, unless: nil)
    }
}
