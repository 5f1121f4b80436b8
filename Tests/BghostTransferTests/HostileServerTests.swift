// SPDX-License-Identifier: Apache-2.0

import BghostTransferRules
import BghostTestSupport
@testable import BghostTransfer
import Testing

/// Servers that mean harm, or are broken in ways that look like it: they cost a while, and no file.
@Suite(.timeLimit(.minutes(5)))
struct HostileServerTests {
    private static let content = sample(300_000)

    enum Trickle: String, CaseIterable, Sendable {
        case head, informational, body, chunkSize
    }

    /// A byte now and then is none: who sends so would hold a connection for days.
    @Test(arguments: Trickle.allCases)
    func `A slowly sending server is timed out`(trickle: Trickle) async throws {
        let host = FileHost(Self.content)
        let steps = Relay()
        try await withRawServer { request, responder in
            guard host.note(request) == 1 else { return try await host.serve(request, responder) }
            // The client may hang up first; the remaining steps must not wait for it.
            defer { steps.finish() }
            switch trickle {
            case .head: try await responder.bytes(Array("HTTP/1.1 200 OK\r\nX-Slow: ".utf8))
            case .informational: break
            case .body: try await responder.head(200, [("Content-Length", "300000")])
            case .chunkSize:
                try await responder.head(200, [("Transfer-Encoding", "chunked")])
                try await responder.bytes(Array("1;".utf8))
            }
            while await steps.next() {
                try await responder.bytes(
                    trickle == .informational
                        ? Array("HTTP/1.1 102 Processing\r\n\r\n".utf8) : [0x61]
                )
                steps.answer()
            }
            return .close
        } test: { port in
            defer { steps.finish() }
            try await withBench(TransferBench()) { bench in
                let id = try await bench.engine.create(
                    bench.download("http://127.0.0.1:\(port)/x")
                ).id
                // Never silent for as long as the idle timeout, which is 60 s.
                for second in 0..<4 {
                    await steps.step()
                    if trickle == .body {
                        // A transfer that has ended moves nothing any longer.
                        while let view = await bench.engine.list().first,
                            view.record.status.state == .active, view.moved <= second
                        {
                            await Task.yield()
                        }
                    }
                    guard await bench.engine.find(id, of: "p")?.status.state == .active else {
                        break
                    }
                    bench.clock.advance(by: .seconds(20))
                    await bench.engine.requirementsChanged()
                }
                let record = await bench.engine.end(of: id)
                #expect(record?.status.state == .done, "\(String(describing: record?.status))")
                #expect(bench.witness.faults == [.idle])
                #expect(try bench.content() == Bytes(Self.content))
            }
        }
        #expect(host.requests.count == 2)
    }

    enum Endless: String, CaseIterable, Sendable {
        case announced, chunked, untilClosed

        func head(_ responder: RawResponder) async throws {
            switch self {
            case .announced:
                try await responder.head(200, [("Content-Length", "9223372036854775807")])
            case .chunked: try await responder.head(200, [("Transfer-Encoding", "chunked")])
            case .untilClosed: try await responder.head(200)
            }
        }

        /// Sends until the client is gone.
        func body(_ responder: RawResponder) async throws -> Never {
            let piece = [UInt8](repeating: 7, count: 1 << 16)
            while true {
                if self == .chunked { try await responder.bytes(Array("10000\r\n".utf8)) }
                try await responder.bytes(piece)
                if self == .chunked { try await responder.bytes(Array("\r\n".utf8)) }
            }
        }
    }

    /// What is read is counted, and not what is sent: the kernel takes much of that, and the server's
    /// own buffers the more the busier the machine is.
    @Test(arguments: Endless.allCases, [false, true])
    func `An endless body fails the download`(endless: Endless, isSecret: Bool) async throws {
        let limit = 4 << 20
        let authority = try TemporaryDirectory()
        let trusted = try TestAuthority.write(to: authority)
        let gone = Event()
        try await withRawServer(
            tls: isSecret ? TestAuthority.context(.good) : nil
        ) { _, responder in
            defer { gone.occur() }
            try await endless.head(responder)
            try await endless.body(responder)
        } test: { port in
            let settings = NetworkSettings { $0 == "SSL_CERT_FILE" ? trusted : nil }
            try await withBench(TransferBench(network: settings)) { bench in
                let scheme = isSecret ? "https" : "http"
                var request = bench.download("\(scheme)://127.0.0.1:\(port)/x")
                request.bytesMax = Int64(limit)
                let record = try await bench.engine.carry(request)
                #expect(record.status.state == .failed)
                #expect(record.status.fault?.code == .tooLarge, "\(record.status)")
                await bench.engine.finishCleanups()
                #expect(bench.files == [])
                // The connection is closed, so nothing more can come.
                await gone.wait()
                // Beyond the limit: the piece that crosses it, the next one, which waits behind it, one
                // that is being read; and what a handshake and the frames of TLS and HTTP take.
                let bytesMax = limit + 4 * TransferEngine.pieceBytesMax
                #expect(bench.engine.receivedBytes < bytesMax)
            }
        }
    }

    /// A fetch reads no more than it allows either, also where TLS would wait for a goodbye.
    @Test(arguments: Endless.allCases, [false, true])
    func `A fetch without end is cut off`(endless: Endless, isSecret: Bool) async throws {
        let limit = 1 << 20
        let authority = try TemporaryDirectory()
        let trusted = try TestAuthority.write(to: authority)
        let gone = Event()
        try await withRawServer(
            tls: isSecret ? TestAuthority.context(.good) : nil
        ) { _, responder in
            defer { gone.occur() }
            try await endless.head(responder)
            try await endless.body(responder)
        } test: { port in
            var settings = NetworkSettings { $0 == "SSL_CERT_FILE" ? trusted : nil }
            settings.connectTimeout = .patient
            let fetcher = HTTPFetcher(names: .system, network: settings)
            let url = "\(isSecret ? "https" : "http")://127.0.0.1:\(port)/x"
            await #expect(throws: FetchFailure.tooLarge(limit: limit)) {
                try await fetcher.fetch(FetchRequest(url: url, bytesMax: limit)) { _, _ in true }
            }
            await gone.wait()
            #expect(fetcher.receivedBytes < limit + 4 * TransferEngine.pieceBytesMax)
            await fetcher.shutDown()
        }
    }

    /// Heads that say two things, or nothing that can be: never a file of it.
    @Test(
        arguments: [
            "Content-Length: 10\r\nContent-Length: 20",
            "Content-Length: -1",
            "Content-Length: 5 5",
            "Content-Length: 0x10",
            "Content-Length: 99999999999999999999999",
            "Content-Length: 300001",
            "Content-Length: 10\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: chunked",
            "Transfer-Encoding: chunked\r\n\r\nzz",
            "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\nabc",
            "Transfer-Encoding: chunked\r\n\r\n-5\r\nabc",
            "Transfer-Encoding: chunked\r\n\r\n5\r\nabcdefg",
            "Bad Name : x",
            ": x",
            "X: \u{0}",
            "endless",
        ]
    )
    func `A contradictory response fails`(head: String) async throws {
        let host = FileHost(Self.content)
        try await withRawServer { request, responder in
            guard host.note(request) == 1 else { return try await host.serve(request, responder) }
            guard head != "endless" else {
                try await responder.bytes(Array("HTTP/1.1 200 OK\r\n".utf8))
                let line = Array(("X-Long: " + String(repeating: "x", count: 1000) + "\r\n").utf8)
                while true { try await responder.bytes(line) }
            }
            try await responder.bytes(Array("HTTP/1.1 200 OK\r\n\(head)\r\n".utf8))
            if !head.contains("\r\n\r\n") { try await responder.bytes(Array("\r\n".utf8)) }
            try await responder.bytes(Self.content)
            return .close
        } test: { port in
            try await withBench(TransferBench()) { bench in
                let record = try await bench.engine.carry(
                    bench.download("http://127.0.0.1:\(port)/x")
                )
                #expect(record.status.state == .done, "\(record.status)")
                #expect(bench.witness.faults == [.connection], "\(bench.witness.records)")
                #expect(try bench.content() == Bytes(Self.content))
                #expect(bench.files == ["file"])
            }
        }
        #expect(host.requests.count == 2)
    }

    /// Later headers do not change the status of a response.
    @Test(arguments: [200, 401])
    func `An answer counts though its body trickles`(status: Int) async throws {
        let host = FileHost([])
        let never = Event()
        let begun = Event()
        try await withRawServer { request, responder in
            _ = host.note(request)
            try await responder.head(status, [("Content-Length", "1000")])
            try await responder.bytes(Array("why".utf8))
            begun.occur()
            await never.wait()
            return .close
        } test: { port in
            defer { never.occur() }
            try await withBench(TransferBench()) { bench in
                try bench.folder.write(Self.content, to: "file")
                let id = try await bench.engine.create(
                    bench.upload("http://127.0.0.1:\(port)/x", .whole)
                ).id
                await begun.wait()
                let sent = UInt64(Self.content.count + 3)
                while await bench.engine.list().first?.moved ?? 0 < sent { await Task.yield() }
                bench.clock.advance(by: .seconds(5))
                let record = await bench.engine.end(of: id)
                #expect(record?.status.state == (status == 200 ? .done : .failed))
                #expect(record?.status.answer?.status == status)
                #expect(record?.status.answer?.body == Array("why".utf8))
            }
        }
        // It is not sent again.
        #expect(host.requests.count == 1)
    }

    @Test(
        arguments: [408, 425, 429, 500, 503],
        ["30", "Sun, 06 Nov 1994 08:50:07 GMT", nil, "soon", "-1", "99999999999999999999"]
    )
    func `The client waits as long as the server says`(status: Int, after: String?) async throws {
        let host = FileHost(Self.content)
        let isSaid = after?.hasPrefix("30") == true || after?.hasPrefix("Sun") == true
        try await withRawServer { request, responder in
            guard host.note(request) > 1 else {
                let date = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
                try await responder.answer(
                    status,
                    [date] + (after.map { [("Retry-After", $0)] } ?? [])
                )
                return .keep
            }
            return try await host.serve(request, responder)
        } test: { port in
            // All of the jitter: a second for the first time.
            try await withBench(TransferBench(jitter: { isSaid ? 0 : $0 - 1 })) { bench in
                let id = try await bench.engine.create(
                    bench.download("http://127.0.0.1:\(port)/x")
                ).id
                _ = await bench.witness.first(.retrying)
                let wait = await bench.engine.list().first?.retryIn
                #expect(wait == (isSaid ? 30_000_000_000 : 999_999_999))
                bench.clock.advance(by: .seconds(isSaid ? 30 : 1))
                #expect(await bench.engine.end(of: id)?.status.state == .done)
            }
        }
        #expect(host.requests.count == 2)
    }
}

/// Steps of a server that a test takes one by one.
private final class Relay: Sendable {
    private let steps = AsyncStream.makeStream(of: Void.self)
    private let answers = AsyncStream.makeStream(of: Void.self)

    /// Has the server do its next step, and returns when it has.
    func step() async {
        steps.continuation.yield()
        for await _ in answers.stream { return }
    }

    /// Waits for the next step; `false` when there is none.
    func next() async -> Bool {
        for await _ in steps.stream { return true }
        return false
    }

    func answer() { answers.continuation.yield() }

    func finish() {
        steps.continuation.finish()
        answers.continuation.finish()
    }
}
