// SPDX-License-Identifier: Apache-2.0

import BghostTransferRules
import BghostTestSupport
@testable import BghostTransfer
import Testing

/// Bodies that the server compresses although the client did not ask for it.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct DownloadPackingTests {
    /// What a shell command writes, packed.
    private func packed(_ command: String) throws -> [UInt8] {
        let folder = try TemporaryDirectory()
        let result = try Command.run(["sh", "-ec", "\(command) | gzip -9 > \(folder.file("x"))"])
        try #require(result.exitCode == 0, "\(result)")
        return try File.read(folder.file("x"))
    }

    private func fetch(
        _ body: [UInt8],
        coding: String = "gzip",
        bytesMax: Int64 = .max,
        _ check: @Sendable (TransferBench, TransferRecord) throws -> Void
    ) async throws {
        try await withRawServer { _, responder in
            try await responder.answer(
                200,
                [("Content-Encoding", coding), ("ETag", "\"v\"")],
                body: body
            )
            return .keep
        } test: { port in
            try await withBench(TransferBench()) { bench in
                var request = bench.download("http://127.0.0.1:\(port)/x")
                request.bytesMax = bytesMax
                let record = try await bench.engine.carry(request)
                await bench.engine.finishCleanups()
                try check(bench, record)
            }
        }
    }

    @Test func `A compressed body is decompressed`() async throws {
        try await fetch(packed("seq 100000")) { bench, record in
            #expect(record.status.state == .done, "\(record.status)")
            let lines = (1...100_000).map { "\($0)\n" }.joined()
            let content = try bench.content()
            #expect(content == Bytes(Array(lines.utf8)))
        }
    }

    @Test func `A decompression bomb fails`() async throws {
        let bomb = try packed("head -c 100000000 /dev/zero")
        #expect(bomb.count < 200_000)
        try await fetch(bomb) { bench, record in
            #expect(record.status.fault?.code == .encoding, "\(record.status)")
            #expect(bench.files == [])
        }
    }

    @Test func `One read takes little of a decompression bomb, also after a large file`()
        async throws
    {
        let bomb = try packed("head -c 100000000 /dev/zero")
        let file = sample(8 << 20)
        try await withRawServer { request, responder in
            if request.target == "/bomb" {
                let headers = [("Content-Encoding", "gzip"), ("ETag", "\"v\"")]
                try await responder.answer(200, headers, body: bomb)
            } else {
                try await responder.answer(200, [("ETag", "\"v\"")], body: file)
            }
            return .keep
        } test: { port in
            try await withBench(TransferBench()) { bench in
                let engine = bench.engine
                let whole = try await engine.carry(bench.download("http://127.0.0.1:\(port)/x"))
                #expect(whole.status.state == .done, "\(whole.status)")
                let before = engine.receivedBytes
                let record = try await engine.carry(
                    bench.download("http://127.0.0.1:\(port)/bomb", to: "bomb")
                )
                #expect(record.status.fault?.code == .encoding, "\(record.status)")
                #expect(engine.receivedBytes - before <= 8 << 10)
            }
        }
    }

    @Test func `The bound is that of the unpacked file`() async throws {
        let body = try packed("seq 100000")
        try await fetch(body, bytesMax: Int64(body.count) + 1000) { bench, record in
            #expect(record.status.fault?.code == .tooLarge, "\(record.status)")
            #expect(bench.files == [])
        }
    }

    @Test func `A body that cannot be decompressed fails`() async throws {
        let body = try packed("seq 100000")
        for broken in [Array(body.dropLast(100)), Array(body.prefix(5000)) + sample(5000)] {
            try await fetch(broken) { bench, record in
                #expect(record.status.state == .failed)
                #expect(record.status.fault?.code == .contradiction, "\(record.status)")
                #expect(bench.files == [])
            }
        }
    }

    @Test func `An unknown content encoding fails`() async throws {
        try await fetch(sample(100), coding: "br") { bench, record in
            #expect(record.status.fault?.code == .encoding)
            #expect(bench.files == [])
        }
    }
}
