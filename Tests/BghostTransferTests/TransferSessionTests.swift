// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTransferRules
@testable import BghostStore
import BghostTestSupport
@testable import BghostTransfer
import Synchronization
import Testing

/// Which runs and sessions receive the ends of transfers.
@Suite(.timeLimit(.minutes(5)))
struct TransferSessionTests {
    private static let content = sample(300_000)

    /// A server that sends half of the file, and the rest when the test says so.
    private final class SlowHost: Sendable {
        let host = FileHost(TransferSessionTests.content)
        let half = Event()
        let go = Event()

        func serve(_ request: RawRequest, _ responder: RawResponder) async throws -> After {
            _ = host.note(request)
            let content = TransferSessionTests.content
            try await responder.head(
                200,
                [("Content-Length", "\(content.count)"), ("ETag", "\"v1\"")]
            )
            try await responder.bytes(content.prefix(150_000))
            half.occur()
            await go.wait()
            try await responder.bytes(content.dropFirst(150_000))
            return .keep
        }
    }

    /// One request, one body: a run that stops waiting does not change the transfer.
    @Test func `A cancelled run leaves the transfer unchanged`() async throws {
        let slow = SlowHost()
        try await withRawServer {
            try await slow.serve($0, $1)
        } test: { port in
            try await withBench(TransferBench()) { bench async throws in
                let request = bench.download("http://127.0.0.1:\(port)/x")
                let waiting = Task { try await bench.engine.carry(request) }
                await slow.half.wait()
                waiting.cancel()
                await #expect(throws: CancellationError.self) { try await waiting.value }
                let detached = await bench.witness.first { $0.status.isDetached }
                #expect(detached.status.state == .active)
                #expect(bench.witness.ends.isEmpty)
                slow.go.occur()
                let ends = await bench.witness.ends(count: 1)
                #expect(ends.first?.transfers.map(\.request.id) == [request.id])
                #expect(try bench.content() == Bytes(Self.content))
            }
        }
        #expect(slow.host.requests.count == 1)
    }

    @Test func `The same request is fetched once`() async throws {
        let slow = SlowHost()
        try await withRawServer {
            try await slow.serve($0, $1)
        } test: { port in
            try await withBench(TransferBench()) { bench async throws in
                let url = "http://127.0.0.1:\(port)/x"
                let first = try await bench.engine.create(bench.download(url), isAttached: true)
                await slow.half.wait()
                var again = bench.download(url)
                again.headers = [TransferHeader("Traceparent", "00-1")]
                let second = try await bench.engine.create(again, isAttached: true)
                #expect(second.id == first.id)
                #expect(!second.isNew)
                // One of two goes: the other one still waits.
                await bench.engine.detach(first.id)
                async let end = bench.engine.end(of: first.id)
                slow.go.occur()
                #expect(await end?.status.state == .done)
                #expect(bench.witness.ends.isEmpty)
                #expect(await bench.engine.list().isEmpty)
            }
        }
        #expect(slow.host.requests.count == 1)
    }

    /// A second run asks for what another one began without a wake.
    @Test func `The same request is notified if either asks for it`() async throws {
        let slow = SlowHost()
        try await withRawServer {
            try await slow.serve($0, $1)
        } test: { port in
            try await withBench(TransferBench()) { bench async throws in
                let url = "http://127.0.0.1:\(port)/x"
                var quiet = bench.download(url)
                quiet.notifiesSession = false
                let first = try await bench.engine.create(quiet)
                await slow.half.wait()
                #expect(try await bench.engine.create(bench.download(url)).id == first.id)
                // One that asks for no wake takes none away.
                var third = bench.download(url)
                third.notifiesSession = false
                #expect(try await bench.engine.create(third).id == first.id)
                slow.go.occur()
                let ends = await bench.witness.ends(count: 1)
                #expect(ends.first?.transfers.map(\.request.id) == [first.id])
            }
        }
    }

    @Test func `The same request starts when the first of both may`() async throws {
        let slow = SlowHost()
        slow.go.occur()
        try await withRawServer {
            try await slow.serve($0, $1)
        } test: { port in
            try await withBench(TransferBench()) { bench async throws in
                let url = "http://127.0.0.1:\(port)/x"
                var late = bench.download(url)
                late.notBefore = bench.clock.unixNow + 86_400_000_000_000
                let first = try await bench.engine.create(late)
                late.id = RunID(high: 2, low: 2)
                late.notBefore = bench.clock.unixNow + 2 * 86_400_000_000_000
                #expect(try await bench.engine.create(late).id == first.id)
                #expect(slow.host.requests.isEmpty)
                #expect(try await bench.engine.create(bench.download(url)).id == first.id)
                let ends = await bench.witness.ends(count: 1)
                #expect(ends.first?.transfers.map(\.request.id) == [first.id])
            }
        }
    }

    /// The end has the continuation that either of them set.
    @Test func `The same request keeps the second continuation`() async throws {
        let journal = MemoryTransferJournal()
        let bench = try await TransferBench(journal: journal, requirements: { _ in false })
        try await withBench(bench) { bench async throws in
            let url = "http://127.0.0.1:1/x"
            let first = try await bench.engine.create(bench.download(url))
            var again = bench.download(url)
            again.continuation = Array("then".utf8)
            again.label = "a map"
            let second = try await bench.engine.create(again)
            #expect(second.id == first.id && !second.isNew)
            // One that brings nothing takes nothing away.
            #expect(try await bench.engine.create(bench.download(url)).id == first.id)
            let kept = try #require(await bench.engine.find(first.id, of: "p"))
            #expect(kept.request.continuation == again.continuation)
            #expect(kept.request.label == "a map")
            #expect(try journal.recover() == [kept])
            var other = again
            other.id = RunID(high: 2, low: 2)
            other.continuation = Array("else".utf8)
            await #expect(throws: TransferFault.self) { try await bench.engine.create(other) }
            #expect(try journal.recover().map(\.request.continuation) == [again.continuation])
        }
    }

    @Test func `A different request is another transfer`() async throws {
        try await withBench(TransferBench(requirements: { _ in false })) { bench async throws in
            func made(_ change: (inout TransferRequest) -> Void) async throws -> Bool {
                var request = bench.download("http://127.0.0.1:1/x")
                change(&request)
                return try await bench.engine.create(request).isNew
            }
            #expect(try await made { _ in })
            #expect(try await !made { _ in })
            #expect(try await made { $0.url = "http://127.0.0.1:1/y" })
            #expect(try await made { $0.url = "http://127.0.0.1:2/x" })
            #expect(try await made { $0.session = "t" })
            #expect(try await made { $0.file += "-2" })
            #expect(try await made { $0.method = "POST" })
            #expect(try await made { $0.body = [1] })
            #expect(try await made { $0.headers = [TransferHeader("Accept", "b")] })
            #expect(try await made { $0.headers = [TransferHeader("X-API-Key", "b")] })
            #expect(try await made { $0.digest = [UInt8](repeating: 1, count: 32) })
            #expect(try await !made { $0.url = "HTTP://127.0.0.1:1/x#here" })
        }
    }

    @Test func `A session gets a wake when its last transfer ends`() async throws {
        let slow = SlowHost()
        let quick = FileHost(sample(10))
        try await withRawServer { request, responder in
            request.target == "/slow"
                ? try await slow.serve(request, responder)
                : try await quick.serve(request, responder)
        } test: { port in
            try await withBench(TransferBench()) { bench async throws in
                let base = "http://127.0.0.1:\(port)"
                let last = try await bench.engine.create(bench.download("\(base)/slow", to: "a")).id
                let first = try await bench.engine.create(bench.download("\(base)/b", to: "b")).id
                let other = try await bench.engine.create(
                    bench.download("\(base)/c", to: "c", session: "t")
                ).id
                #expect(await bench.engine.end(of: first)?.status.state == .done)
                #expect(await bench.engine.end(of: other)?.status.state == .done)
                #expect(bench.witness.ends.map(\.session.session) == ["t"])
                slow.go.occur()
                let ends = await bench.witness.ends(count: 2)
                #expect(ends.last?.transfers.map(\.request.id) == [last, first])
                // Another transfer ends before an acknowledgement: the others were reported already.
                let late = try await bench.engine.create(bench.download("\(base)/d", to: "d")).id
                let more = await bench.witness.ends(count: 3)
                #expect(more.last?.id == late)
                #expect(more.last?.transfers.map(\.request.id) == [late])
                let session = SessionKey(plugin: "p", session: "s")
                await bench.engine.acknowledge([last, first], in: session)
                let rest = await bench.engine.list(plugin: "p").map(\.record.request.id)
                #expect(rest.sorted() == [other, late].sorted())
                await bench.engine.acknowledge([late], in: session)
                #expect(await bench.engine.list(plugin: "p").map(\.record.request.id) == [other])
                #expect(bench.witness.ends.count == 3)
            }
        }
    }

    @Test func `A pause keeps what is there`() async throws {
        let slow = SlowHost()
        try await withRawServer { request, responder in
            guard slow.host.requests.isEmpty else {
                _ = slow.host.note(request)
                return try await slow.host.serve(request, responder)
            }
            return try await slow.serve(request, responder)
        } test: { port in
            defer { slow.go.occur() }
            try await withBench(TransferBench()) { bench async throws in
                let id = try await bench.engine.create(
                    bench.download("http://127.0.0.1:\(port)/x")
                ).id
                await slow.half.wait()
                while await bench.engine.list().first?.moved != 150_000 { await Task.yield() }
                await bench.engine.pause(id)
                #expect(await bench.engine.list().first?.record.status.state == .paused)
                await bench.engine.resume(id)
                #expect(await bench.engine.end(of: id)?.status.state == .done)
                #expect(try bench.content() == Bytes(Self.content))
            }
        }
        #expect(slow.host.requests.last?.rangeStart == 150_000)
    }

    @Test func `Cancelling leaves nothing`() async throws {
        let slow = SlowHost()
        try await withRawServer {
            try await slow.serve($0, $1)
        } test: { port in
            defer { slow.go.occur() }
            try await withBench(TransferBench()) { bench async throws in
                let id = try await bench.engine.create(
                    bench.download("http://127.0.0.1:\(port)/x")
                ).id
                await slow.half.wait()
                await bench.engine.cancel(id)
                #expect(await bench.engine.end(of: id)?.status.state == .cancelled)
                await bench.engine.finishCleanups()
                #expect(bench.files == [])
                #expect(bench.witness.ends.count == 1)
            }
        }
    }

    @Test func `A transfer waits for its requirements`() async throws {
        let host = FileHost(sample(100))
        let isMet = Mutex(false)
        try await withRawServer { request, responder in
            _ = host.note(request)
            return try await host.serve(request, responder)
        } test: { port in
            let bench = try await TransferBench(requirements: { request in
                !request.isDiscretionary || isMet.withLock { $0 }
            })
            try await withBench(bench) { bench async throws in
                var patient = bench.download("http://127.0.0.1:\(port)/x", to: "a")
                patient.isDiscretionary = true
                let id = try await bench.engine.create(patient).id
                let urgent = bench.download("http://127.0.0.1:\(port)/y", to: "b")
                #expect(try await bench.engine.carry(urgent).status.state == .done)
                #expect(host.requests.map(\.target) == ["/y"])
                isMet.withLock { $0 = true }
                await bench.engine.requirementsChanged()
                #expect(await bench.engine.end(of: id)?.status.state == .done)
            }
        }
    }

    @Test func `No server has more connections than it may`() async throws {
        let under = Mutex((now: 0, most: 0))
        let gate = Event()
        let arrived = AsyncStream.makeStream(of: Void.self)
        try await withRawServer { _, responder in
            under.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            arrived.continuation.yield()
            await gate.wait()
            under.withLock { $0.now -= 1 }
            try await responder.answer(200, body: [1])
            return .keep
        } test: { port in
            var limits = TransferLimits()
            limits.perServerMax = 3
            try await withBench(TransferBench(limits: limits)) { bench async throws in
                for number in 0..<20 {
                    _ = try await bench.engine.create(
                        bench.download("http://127.0.0.1:\(port)/\(number)", to: "f\(number)")
                    )
                }
                var count = 0
                for await _ in arrived.stream {
                    count += 1
                    if count == 3 { break }
                }
                let states = await bench.engine.list().map(\.record.status.state)
                #expect(states.count { $0 == .active } == 3)
                #expect(states.count { $0 == .waiting } == 17)
                gate.occur()
                let ends = await bench.witness.ends(count: 1)
                #expect(ends.first?.transfers.count == 20)
            }
        }
        #expect(under.withLock { $0.most } == 3)
    }

    @Test func `The number of transfers of a plugin is bounded`() async throws {
        var limits = TransferLimits()
        limits.perPluginMax = 2
        try await withBench(TransferBench(limits: limits, requirements: { _ in false })) {
            bench async throws in
            func create(_ number: Int) async throws -> RunID {
                try await bench.engine.create(bench.download("http://127.0.0.1:1/\(number)")).id
            }
            let first = try await create(1)
            _ = try await create(2)
            await #expect(throws: TransferFault.self) { try await create(3) }
            await bench.engine.cancel(first)
            // It has not been acknowledged.
            await #expect(throws: TransferFault.self) { try await create(3) }
            await bench.engine.acknowledge([first], in: SessionKey(plugin: "p", session: "s"))
            _ = try await create(3)
        }
    }

    @Test func `A transfer that cannot be stored does not start`() async throws {
        let host = FileHost(sample(100))
        try await withRawServer { request, responder in
            _ = host.note(request)
            return try await host.serve(request, responder)
        } test: { port in
            let journal = MemoryTransferJournal()
            try await withBench(TransferBench(journal: journal)) { bench async throws in
                journal.close()
                await #expect(throws: TransferJournalError.self) {
                    try await bench.engine.create(bench.download("http://127.0.0.1:\(port)/x"))
                }
                #expect(await bench.engine.list().isEmpty)
            }
        }
        #expect(host.requests.isEmpty)
    }
}
