// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTransferRules
@testable import BghostStore
import BghostTestSupport
@testable import BghostTransfer
import Testing

/// Ends that wait for their session.
@Suite(.timeLimit(.minutes(5)))
struct KeptEndTests {
    private static let session = SessionKey(plugin: "p", session: "s")

    private func withServer(_ body: @Sendable (String) async throws -> Void) async throws {
        let host = FileHost(sample(1000))
        try await withRawServer {
            _ = host.note($0)
            return try await host.serve($0, $1)
        } test: { port in
            try await body("http://127.0.0.1:\(port)/x")
        }
    }

    /// Has transfers end that leave files in places of the host's.
    private func end(_ count: Int, _ bench: TransferBench, _ url: String) async throws -> [RunID] {
        var ids: [RunID] = []
        for number in 0..<count {
            var request = bench.download("\(url)?\(number)", to: "file \(number)")
            request.hasOwnPlace = true
            let id = request.id
            _ = try await bench.engine.create(request)
            _ = await bench.witness.first { $0.request.id == id && $0.status.state == .done }
            ids.append(id)
            // The order in which they end is that of the clock.
            bench.clock.advance(by: .seconds(1))
        }
        return ids
    }

    private static func limits(_ change: (inout TransferLimits) -> Void) -> TransferLimits {
        var limits = TransferLimits()
        change(&limits)
        return limits
    }

    private func claim(_ bench: TransferBench, _ bytesMax: Int = 1 << 20) async -> [RunID] {
        await bench.engine.claim(in: Self.session, bytesMax: bytesMax).ids
    }

    @Test func `A kept end is in no wake, also after a restart, until a run claims it`()
        async throws
    {
        let journal = MemoryTransferJournal()
        let folder = try TemporaryDirectory()
        try await withServer { url async throws in
            let first = try await TransferBench(folder: folder, journal: journal)
            var kept: [RunID] = []
            try await withBench(first) { bench in
                kept = try await end(2, bench, url)
                await bench.engine.keepEnds(kept, in: Self.session)
                let told = bench.witness.ends.count
                var later = bench.download(url + "?later", to: "later")
                later.hasOwnPlace = true
                _ = try await bench.engine.create(later)
                let ends = await bench.witness.ends(count: told + 1)
                #expect(ends.last?.transfers.map(\.request.id) == [later.id])
            }
            let second = try await TransferBench(folder: folder, journal: journal)
            try await withBench(second) { bench in
                let ends = await bench.witness.ends(count: 1)
                #expect(ends.last?.transfers.count == 1)
                let none = await bench.engine.claim(
                    in: SessionKey(plugin: "q", session: "s"),
                    bytesMax: 1 << 20
                )
                #expect(none.ids.isEmpty)
                #expect(await claim(bench) == kept)
                // Nothing else gets them meanwhile.
                #expect(await claim(bench).isEmpty)
                #expect(await bench.engine.take(kept[0], of: "p") == nil)
                await bench.engine.giveBack(kept[0])
                await bench.engine.acknowledge([kept[1]], in: Self.session)
                #expect(await claim(bench) == [kept[0]])
                await bench.engine.acknowledge([kept[0]], in: Self.session)
                await bench.engine.finishCleanups()
                #expect(bench.files == ["later"])
                let left = try journal.recover()
                #expect(left.map(\.status.isKept) == [false])
            }
        }
    }

    @Test func `A claim returns as many ends as fit, and none if it asks for the length`()
        async throws
    {
        try await withServer { url async throws in
            try await withBench(try await TransferBench()) { bench in
                let kept = try await end(3, bench, url)
                await bench.engine.keepEnds(kept, in: Self.session)
                let whole = await bench.engine.claim(in: Self.session, bytesMax: 0)
                #expect(whole.ids == kept)
                let small = await bench.engine.claim(in: Self.session, bytesMax: 10)
                #expect(small.ids.isEmpty)
                let need = try #require(small.need)
                #expect(await claim(bench, need) == [kept[0]])
                #expect(await claim(bench, whole.json.utf8.count) == Array(kept.dropFirst()))
            }
        }
    }

    @Test func `Above the limit the oldest kept ends are dropped and logged`()
        async throws
    {
        let limits = Self.limits { $0.keptPerPluginMax = 2 }
        try await withServer { url async throws in
            try await withBench(try await TransferBench(limits: limits)) { bench in
                let ended = try await end(4, bench, url)
                await bench.engine.keepEnds(Array(ended.prefix(2)), in: Self.session)
                #expect(bench.witness.dropped.isEmpty)
                // A run has the first one, and says what becomes of it.
                let page = await bench.engine.claim(in: Self.session, bytesMax: 1 << 20)
                #expect(page.ids == Array(ended.prefix(2)))
                await bench.engine.giveBack(ended[1])
                await bench.engine.keepEnds(Array(ended.dropFirst(2)), in: Self.session)
                #expect(bench.witness.dropped.map(\.request.id) == [ended[1]])
                await bench.engine.giveBack(ended[0])
                #expect(await claim(bench) == [ended[0], ended[2], ended[3]])
                await bench.engine.finishCleanups()
                #expect(!bench.files.contains("file 1"))
                let left = try bench.journal.recover()
                #expect(left.map(\.request.id) == [ended[0], ended[2], ended[3]])
            }
        }
    }

    @Test func `The bytes of kept ends are bounded`() async throws {
        let limits = Self.limits { $0.keptPerPluginBytesMax = 50_000 }
        try await withServer { url async throws in
            try await withBench(try await TransferBench(limits: limits)) { bench in
                var ids: [RunID] = []
                for number in 0..<3 {
                    var request = bench.download("\(url)?\(number)", to: "file \(number)")
                    request.continuation = Array(repeating: 0x61, count: 20_000)
                    let id = request.id
                    _ = try await bench.engine.create(request)
                    _ = await bench.witness.first {
                        $0.request.id == id && $0.status.state == .done
                    }
                    bench.clock.advance(by: .seconds(1))
                    ids.append(id)
                }
                await bench.engine.keepEnds(ids, in: Self.session)
                #expect(bench.witness.dropped.map(\.request.id) == [ids[0]])
                #expect(await claim(bench) == Array(ids.dropFirst()))
            }
        }
    }

    @Test func `A kept end expires after a week`() async throws {
        try await withServer { url async throws in
            try await withBench(try await TransferBench()) { bench in
                let kept = try await end(1, bench, url)
                await bench.engine.keepEnds(kept, in: Self.session)
                bench.clock.advance(by: .seconds(8 * 86_400))
                await bench.engine.sweep()
                #expect(bench.witness.expired.map(\.request.id) == kept)
                await bench.engine.finishCleanups()
                #expect(bench.files.isEmpty)
                #expect(await claim(bench).isEmpty)
            }
        }
    }
}
