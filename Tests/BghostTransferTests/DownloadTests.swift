// SPDX-License-Identifier: Apache-2.0

import BghostTransferRules
import BghostTestSupport
import BghostCrypto
@testable import BghostTransfer
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct DownloadTests {
    private static let content = sample((1 << 20) + 13)

    @Test(arguments: [0, 1, 1000, 5 << 20, (5 << 20) + 1])
    func `A file arrives whole`(size: Int) async throws {
        let host = FileHost(sample(size))
        try await withRawServer { request, responder in
            _ = host.note(request)
            return try await host.serve(request, responder)
        } test: { port in
            try await withBench(TransferBench()) { bench in
                var request = bench.download("http://127.0.0.1:\(port)/x")
                request.digest = Array(SHA256.hash(data: sample(size)))
                let record = try await bench.engine.carry(request)
                #expect(record.status.state == .done, "\(record.status)")
                #expect(record.status.answer?.bytes == Int64(size))
                #expect(record.status.answer?.status == 200)
                #expect(try bench.content() == Bytes(sample(size)))
                #expect(bench.files == ["file"])
            }
        }
        #expect(host.bodyBytes == size)
        #expect(host.requests.count == 1)
    }

    /// The client does not fetch received bytes again, wherever the connection breaks.
    @Test(arguments: 0...16, [false, true])
    func `A cut download resumes`(sixteenth: Int, isChunked: Bool) async throws {
        let size = Self.content.count
        let cut = size * sixteenth / 16
        let host = FileHost(Self.content)
        try await withRawServer { request, responder in
            let isFirst = host.note(request) == 1
            return try await host.serve(
                request,
                responder,
                cut: isFirst ? cut : nil,
                isChunked: isChunked
            )
        } test: { port in
            try await withBench(TransferBench()) { bench in
                let record = try await bench.engine.carry(
                    bench.download("http://127.0.0.1:\(port)/x")
                )
                #expect(record.status.state == .done, "\(record.status)")
                #expect(try bench.content() == Bytes(Self.content))
                #expect(bench.files == ["file"])
                let isCut = sixteenth < 16 || isChunked
                #expect(bench.witness.faults == (isCut ? [.connection] : []))
                if isCut {
                    try #require(host.requests.count == 2)
                    #expect(host.requests[1].rangeStart == (cut == 0 ? nil : cut))
                    #expect(host.requests[1]["if-range"] == (cut == 0 ? nil : "\"v1\""))
                }
            }
        }
        #expect(host.bodyBytes == size)
    }

    @Test func `Many cuts are many parts`() async throws {
        let host = FileHost(Self.content)
        let part = 65_537
        try await withRawServer { request, responder in
            _ = host.note(request)
            return try await host.serve(request, responder, cut: part)
        } test: { port in
            try await withBench(TransferBench()) { bench in
                let record = try await bench.engine.carry(
                    bench.download("http://127.0.0.1:\(port)/x")
                )
                #expect(record.status.state == .done)
                #expect(try bench.content() == Bytes(Self.content))
            }
        }
        #expect(host.requests.count == Self.content.count / part + 1)
        #expect(host.bodyBytes == Self.content.count)
    }

    enum Change: String, CaseIterable, Sendable {
        /// As it should be: another version is sent as a whole.
        case obeysIfRange
        /// Sends the rest of the other version, and says so.
        case sendsPart
        /// Sends the rest of the other version under the name of the old one, and the hash of it.
        case lies
    }

    @Test(arguments: Change.allCases)
    func `A file that changes between two attempts is not mixed`(change: Change) async throws {
        let second = sample(1 << 20, seed: 2)
        let digest = ContentDigest(.sha256, Array(SHA256.hash(data: second)))?.field ?? ""
        let host = FileHost(Self.content)
        try await withRawServer { request, responder in
            guard host.note(request) > 1 else {
                defer { host.replace(second, tag: "\"v2\"") }
                return try await host.serve(request, responder, cut: 500_000)
            }
            guard let start = request.rangeStart, change != .obeysIfRange else {
                return try await host.serve(request, responder)
            }
            let total = change == .lies ? Self.content.count : second.count
            let rest =
                change == .lies ? Array((second + sample(13))[start...]) : Array(second[start...])
            try await responder.answer(
                206,
                [
                    ("Content-Range", "bytes \(start)-\(total - 1)/\(total)"),
                    ("ETag", change == .lies ? "\"v1\"" : "\"v2\""), ("Repr-Digest", digest),
                ],
                body: rest
            )
            return .keep
        } test: { port in
            try await withBench(TransferBench()) { bench in
                let record = try await bench.engine.carry(
                    bench.download("http://127.0.0.1:\(port)/x")
                )
                #expect(record.status.state == .done, "\(record.status)")
                #expect(try bench.content() == Bytes(second))
                #expect(bench.files == ["file"])
                let expected: [TransferFault.Code] =
                    switch change {
                    case .obeysIfRange: [.connection]
                    case .sendsPart: [.connection, .contradiction]
                    case .lies: [.connection, .digest]
                    }
                #expect(bench.witness.faults == expected)
            }
        }
    }

    @Test func `A server that knows no ranges sends all of it again`() async throws {
        let host = FileHost(Self.content)
        try await withRawServer { request, responder in
            let number = host.note(request)
            var plain = request
            plain = RawRequest(method: plain.method, target: plain.target, headers: [:])
            return try await host.serve(plain, responder, cut: number == 1 ? 700_000 : nil)
        } test: { port in
            try await withBench(TransferBench()) { bench in
                let record = try await bench.engine.carry(
                    bench.download("http://127.0.0.1:\(port)/x")
                )
                #expect(record.status.state == .done)
                #expect(try bench.content() == Bytes(Self.content))
            }
        }
        #expect(host.requests[1].rangeStart == 700_000)
        #expect(host.bodyBytes == Self.content.count + 700_000)
    }

    @Test func `Without a validator the download restarts`() async throws {
        let host = FileHost(Self.content, tag: "W/\"weak\"")
        try await withRawServer { request, responder in
            let number = host.note(request)
            return try await host.serve(request, responder, cut: number == 1 ? 700_000 : nil)
        } test: { port in
            try await withBench(TransferBench()) { bench in
                _ = try await bench.engine.carry(bench.download("http://127.0.0.1:\(port)/x"))
                #expect(try bench.content() == Bytes(Self.content))
            }
        }
        #expect(host.requests.map(\.rangeStart) == [nil, nil])
    }

    @Test(arguments: [200_000, 1 << 21])
    func `Not satisfiable with another length restarts`(total: Int) async throws {
        let host = FileHost(Self.content)
        try await withRawServer { request, responder in
            switch host.note(request) {
            case 1: return try await host.serve(request, responder, cut: 500_000)
            case 2:
                try await responder.answer(416, [("Content-Range", "bytes */\(total)")])
                return .keep
            default: return try await host.serve(request, responder)
            }
        } test: { port in
            try await withBench(TransferBench()) { bench in
                _ = try await bench.engine.carry(bench.download("http://127.0.0.1:\(port)/x"))
                #expect(bench.witness.faults == [.connection, .contradiction])
                #expect(try bench.content() == Bytes(Self.content))
            }
        }
        #expect(host.requests.map(\.rangeStart) == [nil, 500_000, nil])
    }

    /// A server that sends the file in parts and never says how long it is.
    @Test func `The end of a part is not the end of the file`() async throws {
        let content = sample(100_000)
        let host = FileHost(content)
        try await withRawServer { request, responder in
            guard host.note(request) > 1, let start = request.rangeStart else {
                return try await host.serve(request, responder, cut: 30_000, isChunked: true)
            }
            guard start < content.count else {
                try await responder.answer(416, [("Content-Range", "bytes */\(content.count)")])
                return .keep
            }
            let part = content[start..<min(start + 30_000, content.count)]
            let range = "bytes \(start)-\(part.endIndex - 1)/*"
            try await responder.answer(
                206,
                [("Content-Range", range), ("ETag", "\"v1\"")],
                body: Array(part)
            )
            return .keep
        } test: { port in
            try await withBench(TransferBench()) { bench in
                _ = try await bench.engine.carry(bench.download("http://127.0.0.1:\(port)/x"))
                #expect(try bench.content() == Bytes(content))
            }
        }
        let starts = host.requests.map(\.rangeStart)
        #expect(starts == [nil, 30_000, 60_000, 90_000, 100_000])
    }

    enum Wrong: String, CaseIterable, Sendable {
        case wantedDigest, statedDigest, shortLength
    }

    /// Nothing wrong is ever seen under the name of the file, and nothing is left of it.
    @Test(arguments: Wrong.allCases)
    func `A download with a wrong hash is deleted`(wrong: Wrong) async throws {
        let other = ContentDigest(.sha512, Array(SHA512.hash(data: [1])))?.field ?? ""
        let digest = ContentDigest(.sha256, Array(SHA256.hash(data: Self.content)))?.field ?? ""
        let host = FileHost(Self.content)
        try await withRawServer { request, responder in
            _ = host.note(request)
            switch wrong {
            case .wantedDigest: return try await host.serve(request, responder)
            case .statedDigest:
                return try await host.serve(request, responder, more: [("Repr-Digest", other)])
            case .shortLength:
                // Says less than it sends, and the hash of all. The next attempt must not meet the
                // rest on the same connection.
                try await responder.head(
                    200,
                    [
                        ("Content-Length", "1000"), ("ETag", "\"v\""), ("Repr-Digest", digest),
                        ("Connection", "close"),
                    ]
                )
                try await responder.bytes(Self.content)
                return .close
            }
        } test: { port in
            try await withBench(TransferBench()) { bench in
                try bench.folder.write("old", to: "file")
                var request = bench.download("http://127.0.0.1:\(port)/x")
                if wrong == .wantedDigest { request.digest = Array(SHA256.hash(data: [2])) }
                let record = try await bench.engine.carry(request)
                #expect(record.status.state == .failed)
                #expect(bench.witness.faults == [.digest, .digest, .digest, .digest])
                #expect(try bench.content() == Bytes(Array("old".utf8)))
            }
        }
        // Each time from the beginning.
        #expect(host.requests.map(\.rangeStart) == [nil, nil, nil, nil])
    }

    @Test func `A failed download leaves nothing`() async throws {
        try await withRawServer { _, responder in
            try await responder.head(200, [("ETag", "\"v\"")])
            for _ in 0..<100 { try await responder.bytes(sample(100_000)) }
            return .close
        } test: { port in
            try await withBench(TransferBench()) { bench in
                var request = bench.download("http://127.0.0.1:\(port)/x")
                request.bytesMax = 1 << 20
                let id = try await bench.engine.create(request).id
                let end = await bench.witness.ends(count: 1)
                #expect(end.first?.id == id)
                #expect(end.first?.transfers.first?.status.fault?.code == .tooLarge)
                await bench.engine.finishCleanups()
                #expect(bench.files == [])
            }
        }
    }

    @Test func `A download above its limit does not start`() async throws {
        let host = FileHost(Self.content)
        try await withRawServer { request, responder in
            _ = host.note(request)
            return try await host.serve(request, responder)
        } test: { port in
            try await withBench(TransferBench()) { bench in
                var request = bench.download("http://127.0.0.1:\(port)/x")
                request.bytesMax = Int64(Self.content.count) - 1
                let record = try await bench.engine.carry(request)
                #expect(record.status.fault?.code == .tooLarge)
                request = bench.download("http://127.0.0.1:\(port)/x")
                request.bytesMax = Int64(Self.content.count)
                #expect(try await bench.engine.carry(request).status.state == .done)
            }
        }
    }
}
