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
import Synchronization
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

    @Test func `A failed wake is not repeated if its ends were acknowledged meanwhile`()
        async throws
    {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor, manifest: Self.manifest())
            let table = try await Self.open(daemon)
            let end = Self.end(1)
            table.bridge.sessionEnded(end)
            await ReactorActor.wait { !daemon.executor.started.isEmpty }
            let wake = try #require(daemon.newestRun)
            daemon.owners.transfers.acknowledge(
                end.transfers.map(\.request.id),
                of: Self.key,
                table
            )
            daemon.end(wake, status: -1)
            #expect(daemon.owners.dispatcher.scheduler.requests(of: "urlSession.photos").isEmpty)
            await ReactorActor.wait { table.acknowledging.isEmpty }
            #expect(daemon.executor.started.count == 1)
        }
    }

    @Test func `A wake does not start if its ends were acknowledged while its worker loaded`()
        async throws
    {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor, manifest: Self.manifest())
            let table = try await Self.open(daemon)
            daemon.executor.state = .loading
            let end = Self.end(1)
            table.bridge.sessionEnded(end)
            await ReactorActor.wait { daemon.owners.runs.count == 1 }
            let wake = try #require(daemon.executor.runs.first)
            daemon.owners.transfers.acknowledge(
                end.transfers.map(\.request.id),
                of: Self.key,
                table
            )
            daemon.executor.state = .live
            daemon.owners.supervisor.start(wake)
            #expect(daemon.executor.started.isEmpty && daemon.executor.isIdle)
            #expect(daemon.owners.runs.count == 0)
            let record = try #require(daemon.store.lastRun(task: "urlSession.photos"))
            #expect(record.outcome == .succeeded && record.startedAt == nil)
            #expect(record.message == "its session has no ended transfers any more")
            await ReactorActor.wait { table.acknowledging.isEmpty }
            #expect(daemon.executor.started.isEmpty)
            #expect(daemon.owners.dispatcher.scheduler.requests(of: "urlSession.photos").isEmpty)
        }
    }

    @Test func `A question to the engine comes after the acknowledgements before it`()
        async throws
    {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor, manifest: Self.manifest())
            let table = try await Self.open(daemon)
            let (gate, opening) = AsyncStream<Never>.makeStream()
            let order = Mutex<[String]>([])
            daemon.owners.transfers.send(to: table) { _ in
                for await _ in gate {}
                order.withLock { $0.append("first") }
            }
            daemon.owners.transfers.send(to: table) { _ in
                order.withLock { $0.append("second") }
            }
            let question = Task {
                _ = actor
                _ = await daemon.owners.transfers.transfers()
                order.withLock { $0.append("question") }
            }
            // Others run as often as it would take them to come first.
            for _ in 0..<100 { await Task.yield() }
            #expect(order.withLock { $0.isEmpty })
            opening.finish()
            await question.value
            #expect(order.withLock { $0 } == ["first", "second", "question"])
            await ReactorActor.wait { table.pendingMessages.isEmpty }
            #expect(table.lastDelivery == nil)
        }
    }

    @Test func `No wake starts while a run waits for the transfer`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor, manifest: Self.manifest(), slotCount: 2)
            let table = try await Self.open(daemon)
            let run = try await daemon.run()
            let end = Self.end(1)
            table.begun.begin(end.transfers[0].request.id, by: run.number)
            table.bridge.sessionEnded(end)
            daemon.owners.transfers.takeEvents()
            #expect(daemon.executor.started.count == 1)
            // The run has ended without having taken it.
            daemon.end(run)
            await ReactorActor.wait { daemon.executor.started.count == 2 }
            #expect(daemon.executor.started[1].isWake)
        }
    }

    // MARK: Late stops

    @Test func `A begin that is under way at the cancel and refused leaves nothing to the daemon`()
        async throws
    {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor, manifest: Self.manifest())
            let table = try await Self.open(daemon)
            let run = try await daemon.run()
            // The engine is not asked before this message is delivered.
            let (gate, opening) = AsyncStream<Never>.makeStream()
            daemon.owners.transfers.send(to: table) { _ in
                for await _ in gate {}
            }
            // The plugin may reach no host.
            let begin = TransferCall.begin(
                TransferBegin(session: "photos", url: "http://192.0.2.1/file")
            )
            let call = Call(number: 1, run: run.number, operation: .transfer(begin))
            daemon.owners.transfers.called(call, daemon.executor, begin)
            daemon.owners.supervisor.handle(.stop(.user), of: run.number)
            #expect(daemon.executor.replies.isEmpty && daemon.executor.cancelled.count == 1)
            opening.finish()
            await ReactorActor.wait { !daemon.executor.replies.isEmpty }
            #expect(daemon.executor.replies.map(\.status) == [CallStatus.permission])
            #expect(!daemon.owners.transfers.haveContinued(without: run.number))
        }
    }

    @Test func `A transfer that a run acknowledged leaves nothing to the daemon`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor, manifest: Self.manifest())
            let table = try await Self.open(daemon)
            let run = try await daemon.run()
            let ids = (1...2).map { Self.end($0).transfers[0].request.id }
            for id in ids {
                table.begun.begin(id, by: run.number)
                table.begun.taken(id, as: nil, by: run.number, isOver: false)
            }
            daemon.owners.transfers.acknowledge([ids[0]], of: Self.key, table)
            daemon.owners.supervisor.handle(.stop(.user), of: run.number)
            daemon.owners.transfers.acknowledge([ids[1]], of: Self.key, table)
            #expect(!daemon.owners.transfers.haveContinued(without: run.number))
            await ReactorActor.wait { table.acknowledging.isEmpty }
        }
    }
}
