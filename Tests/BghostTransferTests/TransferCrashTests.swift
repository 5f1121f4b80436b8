// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTransferRules
@testable import BghostStore
import BghostTestSupport
import BghostTransfer
import Glibc
import NIOPosix
import Synchronization
import Testing

/// Transfers resume after any end of the process that ran them.
@Suite(.ownThreads, .timeLimit(.minutes(10)))
struct TransferCrashTests {
    private static let content = sample((24 << 20) + 13)

    /// Runs the runner until it says how the transfer ended.
    ///
    /// - Returns: how often it was killed.
    private func carry(
        _ kind: String,
        _ folder: TemporaryDirectory,
        _ url: String,
        seed: UInt64,
        killed: () throws -> Void = {}
    ) async throws -> Int {
        var random = SeededGenerator(seed: seed)
        for kills in 0..<200 {
            // Longer and longer, so that it comes to an end on a slow machine too.
            let delay = Int.random(in: 0..<(10_000_000 + kills * 4_000_000), using: &random)
            let program = [Artifact.path("transfer-runner"), kind, folder.path, url, "\(delay)"]
            let result = try await NIOThreadPool.singleton.runIfActive { try Command.run(program) }
            if result.signal == 9 {
                try killed()
                continue
            }
            #expect(result.output == "done\n", "\(result)")
            return kills
        }
        Issue.record("it does not come to an end")
        return 0
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `A download survives kills`(seed: UInt64) async throws {
        let host = FileHost(Self.content)
        let folder = try TemporaryDirectory()
        try await withRawServer { request, responder in
            _ = host.note(request)
            return try await host.serve(request, responder)
        } test: { port in
            var lengths: [Int] = []
            let kills = try await carry(
                "download",
                folder,
                "http://127.0.0.1:\(port)/x",
                seed: seed
            ) {
                lengths.append(try length(of: folder))
            }
            #expect(kills > 0)
            // The transfer resumes from the stored bytes. The server may read the request of a killed
            // process after those of the next ones.
            #expect(lengths == lengths.sorted())
            let starts = host.requests.compactMap(\.rangeStart)
            #expect(starts.allSatisfy(lengths.contains), "\(starts) of \(lengths)")
        }
        #expect(try Bytes(File.read(folder.file("file"))) == Bytes(Self.content))
        let names = try File.list(folder.path).filter { !$0.hasPrefix("journal") }
        #expect(names == ["file"])
    }

    /// How many bytes of the download a killed process has left.
    private func length(of folder: TemporaryDirectory) throws -> Int {
        let name = try File.list(folder.path).first { $0.hasSuffix(".part") || $0 == "file" }
        return try name.map { try File.read(folder.file($0)).count } ?? 0
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `An upload survives kills`(seed: UInt64) async throws {
        let server = TusServer()
        let folder = try TemporaryDirectory()
        try folder.write(Self.content, to: "file")
        try await withRawServer { request, responder in
            try await server.answer(request, responder)
        } test: { port in
            _ = try await carry("tus", folder, "http://127.0.0.1:\(port)/files", seed: seed)
        }
        #expect(Bytes(server.state.withLock { $0.received }) == Bytes(Self.content))
    }
}

/// The same within one process, where what happens can be chosen.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct TransferRestartTests {
    private static let content = sample((1 << 20) + 13)

    @Test func `An engine restores the transfers of the last one`() async throws {
        let host = FileHost(Self.content)
        let folder = try TemporaryDirectory()
        let half = Event()
        let never = Event()
        try await withRawServer { request, responder in
            guard host.note(request) == 1 else { return try await host.serve(request, responder) }
            try await responder.head(
                200,
                [("Content-Length", "\(Self.content.count)"), ("ETag", "\"v1\"")]
            )
            try await responder.bytes(Self.content.prefix(600_000))
            half.occur()
            await never.wait()
            return .close
        } test: { port in
            defer { never.occur() }
            let first = try SQLiteTransferJournal(path: folder.file("journal"))
            var request: TransferRequest?
            try await withBench(TransferBench(folder: folder, journal: first)) { bench in
                var wanted = bench.download("http://127.0.0.1:\(port)/x")
                wanted.continuation = Array("later".utf8)
                wanted.headers = [TransferHeader("X-Kept", "a:b")]
                request = wanted
                _ = try await bench.engine.create(wanted, isAttached: true)
                await half.wait()
                // All of it has been counted.
                while await bench.engine.list().first?.moved != 600_000 { await Task.yield() }
            }
            first.close()
            let second = try SQLiteTransferJournal(path: folder.file("journal"))
            try await withBench(TransferBench(folder: folder, journal: second)) { bench in
                let ends = await bench.witness.ends(count: 1)
                #expect(ends.first?.transfers.map(\.request) == [request].compactMap(\.self))
                #expect(ends.first?.transfers.first?.status.state == .done)
                let content = try bench.content()
                #expect(content == Bytes(Self.content))
            }
            second.close()
            #expect(host.requests.map(\.rangeStart) == [nil, 600_000])
            #expect(host.requests.last?["x-kept"] == "a:b")
            // No run has acknowledged it yet.
            let third = try SQLiteTransferJournal(path: folder.file("journal"))
            try await withBench(TransferBench(folder: folder, journal: third)) { bench in
                let ends = await bench.witness.ends(count: 1)
                let ids = ends.first?.transfers.map(\.request.id) ?? []
                await bench.engine.acknowledge(
                    ids,
                    in: SessionKey(plugin: "p", session: "s")
                )
                #expect(await bench.engine.list().isEmpty)
            }
            third.close()
            let fourth = try SQLiteTransferJournal(path: folder.file("journal"))
            #expect(try fourth.recover().isEmpty)
            fourth.close()
        }
    }

    /// After a power cut a file may be as long as it was and have nothing in it.
    @Test func `After a power cut only what was made durable counts`() async throws {
        let host = FileHost(Self.content)
        let folder = try TemporaryDirectory()
        let journal = MemoryTransferJournal()
        try await withRawServer { request, responder in
            _ = host.note(request)
            return try await host.serve(request, responder)
        } test: { port in
            var request = TransferRequest(
                id: RunID(high: 1, low: 1),
                plugin: "p",
                session: "s",
                kind: .download,
                url: "http://127.0.0.1:\(port)/x",
                file: folder.file("file"),
                createdAt: ManualClock().unixNow
            )
            request.idleTimeout = 5_000_000_000
            var point = TransferPoint(boot: "another")
            point.validator = .tag("\"v1\"")
            point.total = Int64(Self.content.count)
            point.bytes = 300_000
            let zeros = [UInt8](repeating: 0, count: 500_000)
            try folder.write(
                Array(Self.content.prefix(300_000)) + zeros,
                to: ".bghost-\(request.id).part"
            )
            let record = TransferRecord(
                request: request,
                key: "k",
                point: point,
                status: TransferStatus()
            )
            journal.commit([.created(record)]) { _ in }
            try await withBench(TransferBench(folder: folder, journal: journal)) { bench in
                _ = await bench.witness.ends(count: 1)
                let content = try bench.content()
                #expect(content == Bytes(Self.content))
            }
        }
        #expect(host.requests.map(\.rangeStart) == [300_000])
    }

    @Test func `An ended session gets one wake per start`() async throws {
        let host = FileHost(sample(100))
        let journal = MemoryTransferJournal()
        let folder = try TemporaryDirectory()
        try await withRawServer { request, responder in
            try await host.serve(request, responder)
        } test: { port in
            try await withBench(TransferBench(folder: folder, journal: journal)) { bench in
                for number in 1...5 {
                    _ = try await bench.engine.create(
                        bench.download("http://127.0.0.1:\(port)/\(number)", to: "f\(number)")
                    )
                }
                // Each is reported once.
                while bench.witness.ends.flatMap(\.transfers).count < 5 { await Task.yield() }
            }
            try await withBench(TransferBench(folder: folder, journal: journal)) { bench in
                #expect(bench.witness.ends.count == 1)
                #expect(bench.witness.ends.first?.transfers.count == 5)
            }
        }
    }

    /// Killed between the renaming of the file and the word that it is complete.
    @Test(arguments: [true, false]) func `A file in its place is not fetched again`(isIt: Bool)
        async throws
    {
        let host = FileHost(Self.content)
        let folder = try TemporaryDirectory()
        let journal = MemoryTransferJournal()
        try folder.write(Self.content, to: "file")
        let inode = try File.inode(folder.file("file")) + (isIt ? 0 : 1)
        try await withRawServer { request, responder in
            _ = host.note(request)
            return try await host.serve(request, responder)
        } test: { port in
            let request = TransferRequest(
                id: RunID(high: 1, low: 1),
                plugin: "p",
                session: "s",
                kind: .download,
                url: "http://127.0.0.1:\(port)/x",
                file: folder.file("file"),
                createdAt: ManualClock().unixNow
            )
            var point = TransferPoint(boot: "another")
            point.validator = .tag("\"v1\"")
            point.total = Int64(Self.content.count)
            point.source = FileStamp(size: 0, seconds: 0, nanoseconds: 0, inode: inode)
            let record = TransferRecord(
                request: request,
                key: "k",
                point: point,
                status: TransferStatus()
            )
            journal.commit([.created(record)]) { _ in }
            try await withBench(TransferBench(folder: folder, journal: journal)) { bench in
                let ends = await bench.witness.ends(count: 1)
                #expect(ends.first?.transfers.first?.status.state == .done)
                let content = try bench.content()
                #expect(content == Bytes(Self.content))
            }
        }
        #expect(host.requests.count == (isIt ? 0 : 1))
    }

    /// Counts how often progress is written down.
    private final class CountingJournal: TransferJournal {
        let moves = Mutex(0)
        private let journal = MemoryTransferJournal()

        func commit(
            _ changes: [TransferChange],
            completion: @escaping @Sendable (Result<Void, TransferJournalError>) -> Void
        ) {
            for case .moved in changes { moves.withLock { $0 += 1 } }
            journal.commit(changes, completion: completion)
        }

        func keep(_ changes: [TransferChange]) { commit(changes) { _ in } }

        func onHealthChange(_ body: @escaping @Sendable (TransferJournalError?) -> Void) {}

        var health: TransferJournalHealth { journal.health }

        func flush(until deadline: MonotonicInstant) -> Int { 0 }

        func recover() throws(TransferJournalError) -> [TransferRecord] { try journal.recover() }

        func backup(to path: String) throws(TransferJournalError) { try journal.backup(to: path) }

        func close() { journal.close() }
    }

    @Test func `Progress is written down once in a while`() async throws {
        let content = [UInt8](repeating: 7, count: 40 << 20)
        let host = FileHost(content)
        let journal = CountingJournal()
        try await withRawServer { request, responder in
            try await host.serve(request, responder)
        } test: { port in
            try await withBench(TransferBench(journal: journal)) { bench in
                let request = bench.download("http://127.0.0.1:\(port)/x")
                let record = try await bench.engine.carry(request)
                #expect(record.status.state == .done)
            }
        }
        // Its clock stands still: once at the beginning, and not again before a second has passed.
        #expect(journal.moves.withLock { $0 } == 1)
    }
}
