// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCrypto
import BghostTestSupport
import BghostTransferRules
@testable import BghostTransfer
import Glibc
import HTTPTypes
import Hummingbird
import Testing

/// What a plugin may have hashed without sending it.
@Suite(.timeLimit(.minutes(5)))
struct DigestLedgerTests {
    private func at(_ seconds: UInt64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: seconds * 1_000_000_000)
    }

    @Test func `Sent bytes and time make room, for one plugin only`() {
        let ledger = DigestLedger(unsentBytesMax: 100, bytesPerSecond: 10)
        #expect(ledger.add(250, for: "a", now: at(1)))
        #expect(!ledger.add(1, for: "a", now: at(1)))
        #expect(ledger.add(1, for: "b", now: at(1)))
        ledger.subtract(100, for: "a", now: at(1))
        #expect(!ledger.add(1, for: "a", now: at(6)))
        #expect(ledger.add(1, for: "a", now: at(7)))
        // More than it has, as when a redirect has a file sent twice.
        ledger.subtract(.max, for: "a", now: at(7))
        #expect(ledger.add(.max, for: "a", now: at(7)))
        #expect(!ledger.add(1, for: "a", now: at(8)))
    }

    private static func request(_ port: UInt16, _ path: String, _ plugin: String) -> FetchRequest {
        var request = FetchRequest(
            url: "http://127.0.0.1:\(port)/",
            method: "PUT",
            body: .path(path, readable: [path]),
            sendsDigest: true,
            timeout: .seconds(3600)
        )
        request.plugin = plugin
        return request
    }

    @Test func `Fetches whose file is not sent are refused after a while, and others are not`()
        async throws
    {
        let folder = try TemporaryDirectory()
        let path = try folder.write(sample(1000), to: "photo")
        let ledger = DigestLedger(unsentBytesMax: 3000, bytesPerSecond: 0)
        let fetcher = HTTPFetcher(names: .system, network: .patient, digests: ledger)
        try await withServer { request in
            for try await _ in request.body {}
            return Response(status: .ok)
        } test: { port in
            // What is sent takes no room.
            for _ in 0..<5 {
                let answer = try await fetcher.fetch(Self.request(port, path, "p")) { _, _ in true }
                #expect(answer.status == 200)
            }
            // The permission is asked for before the digest, and again before the upload.
            for _ in 0..<3 {
                let asked = Counter()
                await #expect(throws: FetchFailure.permissionDenied(host: "127.0.0.1", port: port))
                {
                    try await fetcher.fetch(Self.request(port, path, "p")) { _, _ in
                        asked.next() == 1
                    }
                }
            }
            await #expect(throws: FetchFailure.tooManyDigests) {
                try await fetcher.fetch(Self.request(port, path, "p")) { _, _ in true }
            }
            let other = try await fetcher.fetch(Self.request(port, path, "q")) { _, _ in true }
            #expect(other.status == 200)
            var plain = Self.request(port, path, "p")
            plain.sendsDigest = false
            #expect(try await fetcher.fetch(plain) { _, _ in true }.status == 200)
        }
        await fetcher.shutDown()
    }

    @Test func `An upload whose file was hashed in vain waits`() async throws {
        var limits = TransferLimits()
        limits.unsentDigestBytesMax = 1000
        limits.digestBytesPerSecond = 0
        let few = limits
        try await withRawServer { _, responder in
            try await responder.answer(200)
            return .keep
        } test: { port in
            try await withBench(TransferBench(limits: few)) { bench in
                try bench.folder.write(sample(1000), to: "file")
                var wrong = bench.upload("http://127.0.0.1:\(port)/x", .whole)
                wrong.digest = Array(SHA256.hash(data: sample(1)))
                let failed = try await bench.engine.carry(wrong)
                #expect(failed.status.fault?.code == .file, "\(failed.status)")
                var right = bench.upload("http://127.0.0.1:\(port)/y", .whole)
                right.digest = Array(SHA256.hash(data: sample(1000)))
                let id = try await bench.engine.create(right).id
                let waiting = await bench.witness.first {
                    $0.request.id == id && $0.status.state == .retrying
                }
                #expect(waiting.status.fault?.code == .limit, "\(waiting.status)")
                await bench.engine.cancel(id)
            }
        }
    }
}
