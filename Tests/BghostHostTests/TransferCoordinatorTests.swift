// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostDispatch
@testable import BghostHost
import BghostLinux
@testable import BghostModel
import BghostOwnerSupport
import BghostPolicy
import BghostStore
@testable import BghostTransfer
import BghostTransferRules
import BghostWire
import BghostTransferBridge
import Testing

/// The wakes of sessions whose transfers have ended, without a process and without a server.
@Suite(.timeLimit(.minutes(5))) struct TransferCoordinatorTests {
    private static let key = SessionKey(plugin: "plugin", session: "photos")

    private static func manifest() -> Manifest {
        var manifest = SampleManifest.make()
        manifest.sessions = [SessionDefinition(name: "photos", plugin: "plugin")]
        return manifest
    }

    /// The end of a session with one transfer.
    private static func end(_ number: UInt64) -> SessionEnd {
        let request = TransferRequest(
            id: RunID(high: 2, low: number),
            plugin: "plugin",
            session: "photos",
            kind: .download,
            url: "http://127.0.0.1/\(number)",
            file: "/nonexistent/\(number)",
            createdAt: 1
        )
        var status = TransferStatus(state: .done)
        status.endedAt = 2
        let record = TransferRecord(
            request: request,
            key: "\(number)",
            point: TransferPoint(),
            status: status
        )
        return SessionEnd(id: request.id, session: key, transfers: [record])
    }

    private nonisolated(nonsending) static func open(
        _ daemon: TestOwners
    ) async throws -> TransferTable {
        try await daemon.owners.transfers.open { _ in
            MemoryTransferJournal()
        } measureData: { _ in
        } hasPlugin: {
            $0 == "plugin"
        }
        daemon.owners.transfers.startWakes()
        return try #require(daemon.owners.transfers.table)
    }

    @Test func `Without sessions there is no journal`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            try await daemon.owners.transfers.open { _ in
                Issue.record("a journal is opened")
                return MemoryTransferJournal()
            } measureData: { _ in
            } hasPlugin: { _ in
                true
            }
            #expect(daemon.owners.transfers.table == nil)
        }
    }

    @Test func `The end of a session wakes its handler once, with the transfers`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor, manifest: Self.manifest())
            let table = try await Self.open(daemon)
            let end = Self.end(1)
            table.bridge.sessionEnded(end)
            await ReactorActor.wait { !daemon.executor.started.isEmpty }
            let start = daemon.executor.started[0]
            #expect(start.isWake && start.parameters.contains("\(end.transfers[0].request.id)"))
            // The same end, reported again, is the same wake.
            table.bridge.sessionEnded(end)
            daemon.owners.transfers.takeEvents()
            #expect(daemon.executor.started.count == 1)
            daemon.end(try #require(daemon.newestRun))
            await ReactorActor.wait { table.acknowledging.isEmpty }
            #expect(table.ends.isEmpty)
            #expect(daemon.executor.started.count == 1)
            #expect(daemon.owners.dispatcher.scheduler.requests(of: "urlSession.photos").isEmpty)
        }
    }

    @Test func `A failed wake is repeated later`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor, manifest: Self.manifest())
            let table = try await Self.open(daemon)
            table.bridge.sessionEnded(Self.end(1))
            await ReactorActor.wait { !daemon.executor.started.isEmpty }
            daemon.end(try #require(daemon.newestRun), status: -1)
            #expect(table.ends[Self.key]?.transfers.count == 1)
            // Not at once: the handler would fail again.
            #expect(daemon.executor.started.count == 1)
            #expect(daemon.owners.dispatcher.scheduler.requests(of: "urlSession.photos").count == 1)
        }
    }

    @Test func `No wake starts while a run waits for the transfer`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor, manifest: Self.manifest(), slotCount: 2)
            let table = try await Self.open(daemon)
            let run = try await daemon.run()
            let end = Self.end(1)
            table.beganBy[end.transfers[0].request.id] = run.number
            table.bridge.sessionEnded(end)
            daemon.owners.transfers.takeEvents()
            #expect(daemon.executor.started.count == 1)
            // The run has ended without having taken it.
            daemon.end(run)
            await ReactorActor.wait { daemon.executor.started.count == 2 }
            #expect(daemon.executor.started[1].isWake)
        }
    }
}
