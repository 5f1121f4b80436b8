// SPDX-License-Identifier: Apache-2.0

import BghostTransferRules
import BghostStore
import BghostTestSupport
@testable import BghostTransfer
import Testing

/// Times and memory of transfers, also in the next daemon.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct TransferTimeTests {
    private let folder: TemporaryDirectory
    private let clock = ManualClock()

    init() throws { folder = try TemporaryDirectory() }

    /// Runs a daemon's engine on the journal that all of them share.
    private func daemon(
        isMet: Bool = true,
        _ body: (TransferBench) async throws -> Void
    ) async throws {
        let journal = try SQLiteTransferJournal(path: folder.file("transfers"))
        defer { journal.close() }
        let bench = try await TransferBench(
            folder: folder,
            journal: journal,
            clock: clock,
            requirements: { _ in isMet }
        )
        try await withBench(bench, body)
    }

    @Test(arguments: [0, 36_000, -36_000])
    func `A restart keeps the pause that a server asked for`(step: Int) async throws {
        let host = FileHost(sample(1000))
        try await withRawServer { request, responder in
            guard host.note(request) > 1 else {
                try await responder.answer(503, [("Retry-After", "3600")])
                return .close
            }
            return try await host.serve(request, responder)
        } test: { port in
            try await daemon { bench in
                _ = try await bench.engine.create(bench.download("http://127.0.0.1:\(port)/x"))
                _ = await bench.witness.first(.retrying)
                clock.advance(by: .seconds(600))
                clock.setWall(by: .seconds(step))
            }
            try await daemon { bench in
                let view = try #require(await bench.engine.list().first)
                #expect(view.record.status.state == .retrying)
                #expect(view.retryIn == 3_000_000_000_000)
                #expect(view.record.status.failures == 1)
                clock.advance(by: .seconds(3000))
                _ = await bench.witness.first(.done)
            }
        }
        #expect(host.requests.count == 2)
    }

    @Test func `A clock that is set back between two daemons makes no pause longer`() async throws {
        let host = FileHost(sample(1000))
        try await withRawServer { request, responder in
            _ = host.note(request)
            try await responder.answer(503, [("Retry-After", "60")])
            return .close
        } test: { port in
            try await daemon { bench in
                _ = try await bench.engine.create(bench.download("http://127.0.0.1:\(port)/x"))
                _ = await bench.witness.first(.retrying)
            }
            clock.setWall(by: .seconds(-36_000))
            try await daemon { bench in
                let view = try #require(await bench.engine.list().first)
                #expect(view.retryIn == 60_000_000_000)
            }
        }
        #expect(host.requests.count == 1)
    }

    @Test(arguments: [8, -8])
    func `A clock that is set does not change how long a transfer has`(days: Int) async throws {
        let day = 86_400
        try await daemon(isMet: false) { bench in
            _ = try await bench.engine.create(bench.download("http://127.0.0.1:9/x"))
            clock.advance(by: .seconds(2 * day))
            clock.setWall(by: .seconds(days * day))
            // The machine tells that its clock was set.
            await bench.engine.requirementsChanged()
        }
        try await daemon(isMet: false) { bench in
            clock.advance(by: .seconds(5 * day - 1))
            let view = try #require(await bench.engine.list().first)
            #expect(view.record.status.state == .waiting, "\(view.record.status)")
            clock.advance(by: .seconds(1))
            let end = await bench.witness.first(.failed)
            #expect(end.status.fault?.code == .expired)
        }
    }

    private static func limits(bytes: Int) -> TransferLimits {
        var limits = TransferLimits()
        limits.perPluginBytesMax = bytes
        return limits
    }

    @Test func `What servers answer counts as the plugin's memory`() async throws {
        let limits = Self.limits(bytes: 64 << 10)
        let body = sample(16 << 10)
        try await withRawServer { _, responder in
            try await responder.answer(
                404,
                [("A", String(repeating: "a", count: 4000))],
                body: body
            )
            return .keep
        } test: { port in
            try await withBench(TransferBench(limits: limits)) { bench in
                for number in 0..<8 {
                    _ = try await bench.engine.create(
                        bench.download("http://127.0.0.1:\(port)/\(number)", session: "\(number)")
                    )
                }
                let ends = await bench.witness.ends(count: 8).flatMap(\.transfers)
                #expect(ends.allSatisfy { $0.status.answer?.status == 404 })
                #expect(ends.contains { $0.status.answer?.body == body })
                let bytes = ends.reduce(0) { $0 + $1.memoryBytes }
                #expect(bytes <= limits.perPluginBytesMax && bytes > 60 << 10, "\(bytes)")
                var large = bench.download("http://127.0.0.1:\(port)/more")
                large.body = sample(4 << 10)
                await #expect(throws: TransferFault.self) {
                    _ = try await bench.engine.create(large)
                }
                // Once a plugin has dealt with them, there is room again.
                for end in ends {
                    await bench.engine.acknowledge([end.request.id], in: end.sessionKey)
                }
                _ = try await bench.engine.create(large)
            }
        }
    }

    @Test func `The places that servers make count as the plugin's memory`() async throws {
        let limits = Self.limits(bytes: 4 << 10)
        try await withRawServer { _, responder in
            let place = "/" + String(repeating: "a", count: 5000)
            try await responder.answer(201, [("Location", place), ("Tus-Resumable", "1.0.0")])
            return .close
        } test: { port in
            try await withBench(TransferBench(limits: limits)) { bench in
                try bench.folder.write(sample(1000), to: "file")
                _ = try await bench.engine.create(bench.upload("http://127.0.0.1:\(port)/", .tus))
                let record = await bench.witness.first(.retrying)
                #expect(record.status.fault?.code == .limit, "\(record.status)")
                #expect(record.point.uploadURL == nil, "it is \(record.point.bytes) bytes")
            }
        }
    }
}
