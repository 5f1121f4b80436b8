// SPDX-License-Identifier: Apache-2.0

import BghostTransferRules
import BghostTestSupport
@testable import BghostTransfer
import NIOSSL
import Synchronization
import Testing

/// Answers that are no files, and servers that give none.
@Suite(.timeLimit(.minutes(5)))
struct TransferAnswerTests {
    @Test(arguments: [400, 401, 403, 404, 405, 409, 410, 418, 451, 501, 505, 304])
    func `A final status is the end`(status: Int) async throws {
        let requests = Mutex(0)
        try await withRawServer { _, responder in
            requests.withLock { $0 += 1 }
            try await responder.answer(
                status,
                [("WWW-Authenticate", "Basic")],
                body: status == 304 ? [] : Array("why".utf8)
            )
            return .keep
        } test: { port in
            try await withBench(TransferBench()) { bench in
                let record = try await bench.engine.carry(
                    bench.download("http://127.0.0.1:\(port)/x")
                )
                #expect(record.status.state == .failed)
                #expect(record.status.fault?.status == status)
                #expect(record.status.answer?.status == status)
                if status != 304 { #expect(record.status.answer?.body == Array("why".utf8)) }
                await bench.engine.finishCleanups()
                #expect(bench.files == [])
            }
        }
        #expect(requests.withLock { $0 } == 1)
    }

    /// Its parts came with answers of their own; what is told is about the whole.
    @Test(arguments: [false, true])
    func `A resumed download is answered as a whole one`(isCut: Bool) async throws {
        let content = sample(300_000)
        let host = FileHost(content)
        try await withRawServer { request, responder in
            let isFirst = host.note(request) == 1
            return try await host.serve(
                request,
                responder,
                cut: isFirst && isCut ? 100_000 : nil,
                more: [("X-Kept", "yes"), ("Content-Digest", "sha-256=:AAAA:")]
            )
        } test: { port in
            try await withBench(TransferBench()) { bench in
                let record = try await bench.engine.carry(
                    bench.download("http://127.0.0.1:\(port)/x")
                )
                let answer = try #require(record.status.answer)
                #expect(record.status.state == .done && answer.status == 200)
                #expect(answer.bytes == 300_000)
                func values(_ name: String) -> [String] {
                    answer.headers.filter { $0.name == name }.map(\.value)
                }
                #expect(values("content-length") == ["300000"])
                #expect(values("content-range") == [])
                #expect(values("content-digest").isEmpty == isCut)
                #expect(values("x-kept") == ["yes"] && values("etag") == ["\"v1\""])
                #expect(try bench.content() == Bytes(content))
            }
        }
        #expect(host.requests.count == (isCut ? 2 : 1))
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 599])
    func `A transient status is tried again`(status: Int) async throws {
        let host = FileHost(sample(1000))
        try await withRawServer { request, responder in
            guard host.note(request) > 3 else {
                try await responder.answer(status)
                return .keep
            }
            return try await host.serve(request, responder)
        } test: { port in
            try await withBench(TransferBench()) { bench in
                let record = try await bench.engine.carry(
                    bench.download("http://127.0.0.1:\(port)/x")
                )
                #expect(record.status.state == .done)
                #expect(bench.witness.faults == [.status, .status, .status])
                #expect(try bench.content() == Bytes(sample(1000)))
            }
        }
    }

    @Test(arguments: ["30", "date"]) func `The server says when`(after: String) async throws {
        let host = FileHost(sample(1000))
        let clock = ManualClock()
        let times = Mutex([UInt64]())
        try await withRawServer { request, responder in
            times.withLock { $0.append(clock.now) }
            guard host.note(request) > 1 else {
                let fields =
                    after == "30"
                    ? [("Retry-After", "30")]
                    : [
                        ("Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
                        ("Retry-After", "Sun, 06 Nov 1994 08:50:07 GMT"),
                    ]
                try await responder.answer(429, fields)
                return .keep
            }
            return try await host.serve(request, responder)
        } test: { port in
            try await withBench(TransferBench(clock: clock)) { bench in
                let id = try await bench.engine.create(
                    bench.download("http://127.0.0.1:\(port)/x")
                ).id
                _ = await bench.witness.first(.retrying)
                clock.advance(by: .seconds(29))
                #expect(await bench.engine.list().first?.record.status.state == .retrying)
                clock.advance(by: .seconds(1))
                #expect(await bench.engine.end(of: id)?.status.state == .done)
            }
        }
        #expect(times.withLock { $0 } == [1_000_000_000, 31_000_000_000])
    }

    @Test func `A transfer is retried until its time is over`() async throws {
        let host = FileHost([])
        try await withRawServer { request, responder in
            _ = host.note(request)
            try await responder.answer(503, [("Retry-After", "40")])
            return .keep
        } test: { port in
            try await withBench(TransferBench()) { bench in
                var request = bench.download("http://127.0.0.1:\(port)/x")
                request.resourceTimeout = 100_000_000_000
                let id = try await bench.engine.create(request).id
                _ = await bench.witness.first { $0.status.failures == 1 }
                bench.clock.advance(by: .seconds(40))
                _ = await bench.witness.first { $0.status.failures == 2 }
                bench.clock.advance(by: .seconds(40))
                let record = await bench.engine.end(of: id)
                #expect(record?.status.state == .failed)
                #expect(record?.status.fault?.status == 503)
            }
        }
        #expect(host.requests.count == 3)
    }

    /// - Parameter bytes: how much of an answer comes before nothing more does.
    @Test(arguments: ["nothing", "head", "body"])
    func `A silent server is timed out`(after part: String) async throws {
        let host = FileHost(sample(100_000))
        let never = Event()
        let isSilent = Event()
        try await withRawServer { request, responder in
            guard host.note(request) == 1 else { return try await host.serve(request, responder) }
            if part != "nothing" {
                try await responder.head(200, [("Content-Length", "100000"), ("ETag", "\"v1\"")])
            }
            if part == "body" { try await responder.bytes(sample(100_000).prefix(50_000)) }
            isSilent.occur()
            await never.wait()
            return .close
        } test: { port in
            defer { never.occur() }
            try await withBench(TransferBench()) { bench in
                let id = try await bench.engine.create(
                    bench.download("http://127.0.0.1:\(port)/x")
                ).id
                await isSilent.wait()
                // All bytes must have arrived, because each byte restarts the idle timeout.
                let sent: UInt64 = part == "body" ? 50_000 : 0
                while await bench.engine.list().first?.moved ?? 0 < sent { await Task.yield() }
                // So does the head, with which the version is known.
                while part != "nothing",
                    await bench.engine.list().first?.record.point.validator == nil
                {
                    await Task.yield()
                }
                bench.clock.advance(by: .seconds(60))
                #expect(await bench.engine.end(of: id)?.status.state == .done)
                #expect(bench.witness.faults == [.idle])
                #expect(try bench.content() == Bytes(sample(100_000)))
            }
        }
    }

    @Test func `A server with a bad certificate gets no request`() async throws {
        let host = FileHost([])
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [
                .certificate(
                    try NIOSSLCertificate(bytes: Array(TestCertificate.text.utf8), format: .pem)
                )
            ],
            privateKey: .privateKey(
                try NIOSSLPrivateKey(bytes: Array(TestCertificate.key.utf8), format: .pem)
            )
        )
        configuration.minimumTLSVersion = .tlsv12
        let context = try NIOSSLContext(configuration: configuration)
        try await withRawServer(tls: context) { request, responder in
            _ = host.note(request)
            return try await host.serve(request, responder)
        } test: { port in
            try await withBench(TransferBench()) { bench in
                let record = try await bench.engine.carry(
                    bench.download("https://127.0.0.1:\(port)/x")
                )
                #expect(record.status.state == .failed)
                #expect(record.status.fault?.code == .untrusted, "\(record.status)")
            }
        }
        #expect(host.requests.isEmpty)
    }

    @Test func `A name that does not resolve is retried`() async throws {
        let host = FileHost(sample(1000))
        let lookups = Mutex(0)
        try await withRawServer { request, responder in
            try await host.serve(request, responder)
        } test: { port in
            let names = NameLookup(
                addresses: { _ in
                    let count = lookups.withLock { lookups in
                        lookups += 1
                        return lookups
                    }
                    return count > 2
                        ? .success([[127, 0, 0, 1]]) : .failure(NameFailure(reason: "unknown"))
                },
                isLocal: { _ in false }
            )
            try await withBench(TransferBench(names: names)) { bench in
                let record = try await bench.engine.carry(
                    bench.download("http://files.example:\(port)/x")
                )
                #expect(record.status.state == .done)
                #expect(bench.witness.faults == [.unresolved, .unresolved])
            }
        }
    }

    @Test func `An absent server is retried`() async throws {
        let refusing = try SilentSocket(accepts: false)
        try await withBench(TransferBench(jitter: { $0 - 1 })) { bench in
            let id = try await bench.engine.create(
                bench.download("http://127.0.0.1:\(refusing.port)/x")
            ).id
            let record = await bench.witness.first(.retrying)
            #expect(record.status.fault?.code == .connection)
            await bench.engine.cancel(id)
            #expect(await bench.engine.end(of: id)?.status.state == .cancelled)
        }
    }
}
