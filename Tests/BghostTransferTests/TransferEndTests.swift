// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCrypto
import BghostTransferRules
@testable import BghostStore
import BghostTestSupport
@testable import BghostTransfer
import Glibc
import Synchronization
import Testing

/// Ends of transfers: delivered to the run that waits, or to the session.
@Suite(.timeLimit(.minutes(5)))
struct TransferEndTests {
    /// It takes a while to sync and to hash a file, and neither can be interrupted.
    @Test func `A download that is cancelled while it is hashed never appears`() async throws {
        let content = sample(64 << 20)
        let host = FileHost(content)
        try await withRawServer { request, responder in
            try await host.serve(request, responder)
        } test: { port in
            try await withBench(TransferBench()) { bench async throws in
                // Some of them are cancelled a moment too early.
                for _ in 0..<4 {
                    var request = bench.download("http://127.0.0.1:\(port)/x")
                    request.digest = Array(SHA256.hash(data: content))
                    _ = try await bench.engine.create(request)
                    let folder = bench.folder.path
                    let isWhole = try await onDisk {
                        waitForFile(in: folder, named: ".bghost-", bytes: content.count)
                    }
                    try #require(isWhole)
                    await bench.engine.cancel(request.id)
                    let id = request.id
                    let end = await bench.witness.first {
                        $0.request.id == id && $0.status.state.isTerminal
                    }
                    await bench.engine.finishCleanups()
                    // It is in its place only if it was done before it was cancelled.
                    #expect(bench.files == (end.status.state == .done ? ["file"] : []))
                    if end.status.state == .done { unlink(bench.folder.file("file")) }
                    await bench.engine.acknowledge(
                        [id],
                        in: SessionKey(plugin: "p", session: "s")
                    )
                }
            }
        }
    }

    /// Deadlines lie days ahead, and the memory of those that ended must not wait for them.
    @Test func `Transfers that end leave no timers`() async throws {
        try await withBench(TransferBench(requirements: { _ in false })) { bench async throws in
            for _ in 0..<4000 {
                var request = bench.download("http://127.0.0.1:1/x")
                request.notBefore = bench.clock.unixNow + 86_400_000_000_000
                _ = try await bench.engine.create(request)
                await bench.engine.cancel(request.id)
                await bench.engine.acknowledge(
                    [request.id],
                    in: SessionKey(plugin: "p", session: "s")
                )
            }
            #expect(await bench.engine.timers.size < 4000)
        }
    }

    private static let content = sample(10_000)

    private func withFile(
        _ bench: TransferBench,
        _ body: @Sendable (TransferBench, String) async throws -> Void
    ) async throws {
        let host = FileHost(Self.content)
        try await withRawServer {
            _ = host.note($0)
            return try await host.serve($0, $1)
        } test: { port in
            try await withBench(bench) { try await body($0, "http://127.0.0.1:\(port)/x") }
        }
    }

    @Test func `The observer is told of an end before the callers that wait for it`() async throws {
        let observer = SlowObserver()
        let folder = try TemporaryDirectory()
        let host = FileHost(Self.content)
        try await withRawServer {
            _ = host.note($0)
            return try await host.serve($0, $1)
        } test: { port in
            let clock = ManualClock()
            let engine = TransferEngine(
                journal: MemoryTransferJournal(),
                clock: clock,
                observer: observer
            ) { _ in
                TransferAccess(writable: [folder.path], readable: [], permits: { _, _ in true })
            }
            let request = TransferRequest(
                id: RunID(high: 1, low: 1),
                plugin: "p",
                session: "s",
                kind: .download,
                url: "http://127.0.0.1:\(port)/x",
                file: folder.file("file"),
                createdAt: clock.unixNow
            )
            _ = try await engine.create(request)
            let record = await engine.take(request.id, of: "p")
            #expect(record?.status.state == .done)
            let isTold = observer.isTold.load(ordering: .acquiring)
            #expect(isTold)
            await engine.shutDown()
        }
    }

    /// Lets all others go on first, as an observer on a busy machine may.
    private final class SlowObserver: TransferObserver {
        let isTold = Atomic(false)

        func transferChanged(_ record: TransferRecord) {
            guard record.status.state == .done else { return }
            for _ in 0..<100_000 { sched_yield() }
            isTold.store(true, ordering: .releasing)
        }

        func sessionEnded(_ end: SessionEnd) {}

        func journalFailed(_ error: TransferJournalError) {}
    }

    @Test func `The journal keeps an end until its receiver confirms it`() async throws {
        let journal = MemoryTransferJournal()
        try await withFile(try await TransferBench(journal: journal)) { bench, url async throws in
            let request = bench.download(url)
            _ = try await bench.engine.create(request)
            let record = await bench.engine.take(request.id, of: "p")
            #expect(record?.status.state == .done)
            let kept = try journal.recover()
            #expect(kept.count == 1)
            await bench.engine.confirm(request.id)
            let left = try journal.recover()
            #expect(left.isEmpty)
            #expect(await bench.engine.list().isEmpty)
            // The run that received the end keeps the file.
            #expect(try bench.content() == Bytes(Self.content))
        }
    }

    @Test func `An end that no run received goes to its session`() async throws {
        try await withFile(try await TransferBench()) { bench, url async throws in
            let request = bench.download(url)
            let taking = Task {
                _ = try await bench.engine.create(request)
                return await bench.engine.take(request.id, of: "p")
            }
            #expect(try await taking.value?.status.state == .done)
            await bench.engine.giveBack(request.id)
            let ends = await bench.witness.ends(count: 1)
            #expect(ends.last?.transfers.map(\.request.id) == [request.id])
            await bench.engine.confirm(request.id)
            #expect(await bench.engine.list().isEmpty)
        }
    }

    @Test func `No other plugin gets the end`() async throws {
        try await withFile(try await TransferBench()) { bench, url async throws in
            let request = bench.download(url)
            _ = try await bench.engine.create(request)
            _ = await bench.witness.first(.done)
            #expect(await bench.engine.take(request.id, of: "q") == nil)
            #expect(await bench.engine.find(request.id, of: "q") == nil)
            #expect(await bench.engine.take(request.id, of: "p") != nil)
        }
    }

    @Test func `An end with no wake is not delivered`() async throws {
        try await withFile(try await TransferBench()) { bench, url async throws in
            var quiet = bench.download(url)
            quiet.notifiesSession = false
            _ = try await bench.engine.create(quiet)
            _ = await bench.witness.first(.done)
            var told = bench.download(url, to: "other")
            told.body = [1]
            told.method = "POST"
            _ = try await bench.engine.create(told)
            let ends = await bench.witness.ends(count: 1)
            #expect(ends.last?.transfers.map(\.request.id) == [told.id])
            #expect(await bench.engine.list().count == 2)
            await bench.engine.acknowledge(
                [quiet.id, told.id],
                in: SessionKey(plugin: "p", session: "s")
            )
            #expect(await bench.engine.list().isEmpty)
        }
    }

    @Test func `A transfer waits for its date`() async throws {
        try await withFile(try await TransferBench()) { bench, url async throws in
            var request = bench.download(url)
            request.notBefore = bench.clock.unixNow + 3_600_000_000_000
            _ = try await bench.engine.create(request)
            #expect(await bench.engine.list().map(\.isMet) == [false])
            bench.clock.advance(by: .seconds(3599))
            await bench.engine.requirementsChanged()
            #expect(await bench.engine.list().map(\.record.status.state) == [.waiting])
            bench.clock.advance(by: .seconds(2))
            let record = await bench.witness.first(.done)
            #expect(record.request.id == request.id)
        }
    }

    /// As on a machine whose clock starts in 1970, and is set when a network has come.
    @Test func `A clock that is set forward drops no end`() async throws {
        try await withFile(try await TransferBench()) { bench, url async throws in
            var request = bench.download(url)
            request.hasOwnPlace = true
            _ = try await bench.engine.create(request)
            _ = await bench.witness.ends(count: 1)
            bench.clock.setWall(by: .seconds(400 * 86_400))
            await bench.engine.sweep()
            #expect(bench.witness.expired.isEmpty)
            let kept = try bench.journal.recover().map(\.status.endedAt)
            #expect(kept == [bench.clock.unixNow])
            bench.clock.setWall(by: .seconds(-400 * 86_400))
            for _ in 0..<(7 * 24 + 2) {
                bench.clock.advance(by: .seconds(3600))
                await bench.engine.sweep()
            }
            #expect(bench.witness.expired.map(\.request.id) == [request.id])
        }
    }

    @Test func `An unclaimed end expires after a week`() async throws {
        try await withFile(try await TransferBench()) { bench, url async throws in
            var request = bench.download(url)
            request.hasOwnPlace = true
            _ = try await bench.engine.create(request)
            _ = await bench.witness.ends(count: 1)
            // The sweep comes each hour; the first ones find it too young.
            for _ in 0..<(7 * 24 + 2) {
                bench.clock.advance(by: .seconds(3600))
                await bench.engine.sweep()
            }
            #expect(bench.witness.expired.map(\.request.id) == [request.id])
            await bench.engine.finishCleanups()
            #expect(bench.files.isEmpty)
            #expect(await bench.engine.list().isEmpty)
            let left = try bench.journal.recover()
            #expect(left.isEmpty)
        }
    }

    @Test func `An acknowledged transfer leaves no file of the hosts`() async throws {
        try await withFile(try await TransferBench()) { bench, url async throws in
            var own = bench.download(url)
            own.hasOwnPlace = true
            var given = bench.download(url, to: "given")
            given.method = "POST"
            _ = try await bench.engine.create(own)
            _ = try await bench.engine.create(given)
            let ids = [own.id, given.id]
            for id in ids {
                _ = await bench.witness.first { $0.request.id == id && $0.status.state == .done }
            }
            await bench.engine.acknowledge(
                ids,
                in: SessionKey(plugin: "p", session: "s")
            )
            await bench.engine.finishCleanups()
            #expect(bench.files == ["given"])
        }
    }
}
