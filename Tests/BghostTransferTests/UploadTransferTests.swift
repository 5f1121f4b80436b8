// SPDX-License-Identifier: Apache-2.0

import BghostTransferRules
import BghostTestSupport
import BghostCrypto
@testable import BghostTransfer
import Glibc
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct UploadTransferTests {
    private static let content = sample((1 << 20) + 13)

    @Test(arguments: [0, 1, 1000, 5 << 20]) func `A file is sent whole`(size: Int) async throws {
        let host = FileHost([])
        try await withRawServer { request, responder in
            _ = host.note(request)
            try await responder.answer(201, [("Location", "/here")], body: Array("ok".utf8))
            return .keep
        } test: { port in
            try await withBench(TransferBench()) { bench in
                try bench.folder.write(sample(size), to: "file")
                var request = bench.upload("http://127.0.0.1:\(port)/x", .whole)
                request.headers = [TransferHeader("Content-Type", "image/jpeg")]
                request.digest = Array(SHA256.hash(data: sample(size)))
                let record = try await bench.engine.carry(request)
                #expect(record.status.state == .done, "\(record.status)")
                #expect(record.status.answer?.status == 201)
                #expect(record.status.answer?.body == Array("ok".utf8))
                #expect(record.status.answer?.bytes == Int64(size))
            }
        }
        let request = try #require(host.requests.first)
        #expect(request.method == "PUT")
        #expect(Bytes(request.body) == Bytes(sample(size)))
        #expect(request["content-type"] == "image/jpeg")
        #expect(request["idempotency-key"] != nil)
    }

    @Test func `A form has the file in it`() async throws {
        let host = FileHost([])
        try await withRawServer { request, responder in
            _ = host.note(request)
            try await responder.answer(200)
            return .keep
        } test: { port in
            try await withBench(TransferBench()) { bench in
                try bench.folder.write(Self.content, to: "file")
                let form = UploadForm.multipart(
                    field: "photo",
                    fileName: "a\"b\r\nc.jpg",
                    contentType: "image/jpeg"
                )
                let record = try await bench.engine.carry(
                    bench.upload("http://127.0.0.1:\(port)/x", form)
                )
                #expect(record.status.state == .done)
            }
        }
        let request = try #require(host.requests.first)
        let boundary = try #require(request["content-type"]?.split(separator: "boundary=").last)
        #expect(request.method == "POST")
        let head =
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"photo\"; "
            + "filename=\"a%22b%0D%0Ac.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n"
        #expect(
            Bytes(request.body)
                == Bytes(Array(head.utf8) + Self.content + Array("\r\n--\(boundary)--\r\n".utf8))
        )
    }

    @Test(arguments: 0...16, [UploadForm.tus, .negotiated])
    func `An upload continues after a cut`(sixteenth: Int, form: UploadForm) async throws {
        let size = Self.content.count
        let server = TusServer()
        let patches = Counter()
        try await withRawServer(
            bodyMax: { request in
                guard request.method == "PATCH", patches.next() == 1 else { return .max }
                return size * sixteenth / 16
            },
            { try await server.answer($0, $1) },
            test: { port in
                try await withBench(TransferBench()) { bench in
                    try bench.folder.write(Self.content, to: "file")
                    let record = try await bench.engine.carry(
                        bench.upload("http://127.0.0.1:\(port)/files", form)
                    )
                    #expect(record.status.state == .done, "\(record.status)")
                    #expect(bench.witness.faults == (sixteenth == 16 ? [] : [.connection]))
                }
            }
        )
        server.state.withLock { state in
            #expect(Bytes(state.received) == Bytes(Self.content))
            #expect(state.creations == 1)
            #expect(state.sent == size)
            let start = form == .tus ? ["POST", "PATCH"] : ["OPTIONS", "POST", "PATCH"]
            #expect(state.log == start + (sixteenth == 16 ? [] : ["HEAD", "PATCH"]))
        }
    }

    @Test func `A lost upload resource is created again`() async throws {
        let server = TusServer()
        let patches = Counter()
        try await withRawServer(
            bodyMax: { $0.method == "PATCH" && patches.next() == 1 ? 1000 : .max },
            { request, responder in
                if request.method == "HEAD" { server.state.withLock { $0.place = "/files/2" } }
                return try await server.answer(request, responder)
            },
            test: { port in
                try await withBench(TransferBench()) { bench in
                    try bench.folder.write(Self.content, to: "file")
                    let record = try await bench.engine.carry(
                        bench.upload("http://127.0.0.1:\(port)/files", .tus)
                    )
                    #expect(record.status.state == .done)
                    #expect(bench.witness.faults == [.connection, .contradiction])
                }
            }
        )
        #expect(Bytes(server.state.withLock { $0.received }) == Bytes(Self.content))
        #expect(server.state.withLock { $0.creations } == 2)
    }

    @Test func `A server without either protocol gets the whole file`() async throws {
        let host = FileHost([])
        try await withRawServer { request, responder in
            _ = host.note(request)
            try await responder.answer(request.method == "OPTIONS" ? 405 : 200)
            return .keep
        } test: { port in
            try await withBench(TransferBench()) { bench in
                try bench.folder.write(Self.content, to: "file")
                let request = bench.upload("http://127.0.0.1:\(port)/x", .negotiated)
                #expect(try await bench.engine.carry(request).status.state == .done)
            }
        }
        #expect(host.requests.map(\.method) == ["OPTIONS", "POST"])
        #expect(Bytes(host.requests.last?.body ?? []) == Bytes(Self.content))
    }

    @Test(arguments: [500, 503, 408, 429, 0])
    func `An upload that fails is sent again`(status: Int) async throws {
        let host = FileHost([])
        try await withRawServer { request, responder in
            let number = host.note(request)
            if number < 3, status == 0 { return .close }
            try await responder.answer(number < 3 ? status : 200)
            return .keep
        } test: { port in
            try await withBench(TransferBench()) { bench in
                try bench.folder.write(Self.content, to: "file")
                let request = bench.upload("http://127.0.0.1:\(port)/x", .whole)
                #expect(try await bench.engine.carry(request).status.state == .done)
            }
        }
        #expect(
            host.requests.map { Bytes($0.body) }
                == [Bytes](repeating: Bytes(Self.content), count: 3)
        )
        let keys = Set(host.requests.compactMap { $0["idempotency-key"] })
        #expect(keys.count == 1)
    }

    enum Moment: String, CaseIterable, Sendable {
        case beforeItBegins, inTheMiddle, betweenTwoAttempts
    }

    /// No server ever has a mixture of two versions that it could take for a file.
    @Test(arguments: Moment.allCases)
    func `A file that changes is not sent whole`(moment: Moment) async throws {
        let size = 16 << 20
        let whole = Counter()
        let arrived = Event()
        let changed = Event()
        try await withRawServer(
            bodyMax: { _ in moment == .inTheMiddle ? 100_000 : .max },
            { request, responder in
                if moment == .inTheMiddle {
                    arrived.occur()
                    await changed.wait()
                    return .close
                }
                if request.body.count == size { _ = whole.next() }
                try await responder.answer(503, [("Retry-After", "1")])
                return .keep
            },
            test: { port in
                try await withBench(TransferBench()) { bench in
                    let path = try bench.folder.write(sample(1), to: "file")
                    #expect(truncate(path, size) == 0)
                    var request = bench.upload("http://127.0.0.1:\(port)/x", .whole)
                    if moment == .beforeItBegins {
                        request.digest = Array(SHA256.hash(data: [1]))
                    }
                    let id = try await bench.engine.create(request).id
                    switch moment {
                    case .beforeItBegins: break
                    case .inTheMiddle:
                        await arrived.wait()
                        #expect(truncate(path, size + 1) == 0)
                        changed.occur()
                    case .betweenTwoAttempts:
                        _ = await bench.witness.first(.retrying)
                        #expect(truncate(path, size + 1) == 0)
                        bench.clock.advance(by: .seconds(1))
                    }
                    let record = await bench.engine.end(of: id)
                    #expect(
                        record?.status.state == .failed,
                        "\(String(describing: record?.status))"
                    )
                    let code = record?.status.fault?.code
                    #expect(code == (moment == .beforeItBegins ? .file : .fileChanged))
                }
            }
        )
        #expect(whole.next() == (moment == .betweenTwoAttempts ? 2 : 1))
    }

    /// The rest of another version is not put behind the beginning of this one.
    @Test(arguments: [UploadForm.tus, .negotiated])
    func `An upload of a changed file does not resume`(form: UploadForm) async throws {
        let server = TusServer()
        let patches = Counter()
        try await withRawServer(
            bodyMax: { $0.method == "PATCH" && patches.next() == 1 ? 500_000 : .max },
            { try await server.answer($0, $1) },
            test: { port in
                try await withBench(TransferBench(jitter: { $0 - 1 })) { bench in
                    let path = try bench.folder.write(Self.content, to: "file")
                    let id = try await bench.engine.create(
                        bench.upload("http://127.0.0.1:\(port)/files", form)
                    ).id
                    _ = await bench.witness.first(.retrying)
                    // As long as it was.
                    try File.write(sample(Self.content.count, seed: 2), to: path)
                    bench.clock.advance(by: .seconds(1))
                    let record = await bench.engine.end(of: id)
                    #expect(record?.status.state == .failed)
                    #expect(record?.status.fault?.code == .fileChanged)
                }
            }
        )
        server.state.withLock { state in
            #expect(Bytes(state.received) == Bytes(Array(Self.content.prefix(500_000))))
            #expect(state.log.last == "PATCH")
        }
    }

    /// The file is whole in the form that counts, however often it was cut before.
    @Test(arguments: 0..<16) func `A form that is cut is sent again`(sixteenth: Int) async throws {
        let host = FileHost([])
        let requests = Counter()
        let cut = Self.content.count * sixteenth / 16
        try await withRawServer(
            bodyMax: { _ in requests.next() == 1 ? cut : .max },
            { request, responder in
                guard host.note(request) > 1 else { return .close }
                try await responder.answer(200)
                return .keep
            },
            test: { port in
                try await withBench(TransferBench()) { bench in
                    try bench.folder.write(Self.content, to: "file")
                    let form = UploadForm.multipart(
                        field: "f",
                        fileName: "n",
                        contentType: "image/jpeg"
                    )
                    let record = try await bench.engine.carry(
                        bench.upload("http://127.0.0.1:\(port)/x", form)
                    )
                    #expect(record.status.state == .done, "\(record.status)")
                    #expect(bench.witness.faults == [.connection])
                }
            }
        )
        let body = try #require(host.requests.last?.body)
        #expect(host.requests.count == 2)
        #expect(host.requests.last?["content-length"] == "\(body.count)")
        let head = Array("Content-Type: image/jpeg\r\n\r\n".utf8)
        let at = body.prefix(1000).indices.first { body[$0...].starts(with: head) }.map {
            $0 + head.count
        }
        let first = try #require(at)
        #expect(Bytes(Array(body[first..<(first + Self.content.count)])) == Bytes(Self.content))
    }

    @Test func `An answer before the end of the body is the answer`() async throws {
        try await withRawServer(
            bodyMax: { _ in 100_000 },
            { _, responder in
                try await responder.answer(413, [("Connection", "close")], body: Array("big".utf8))
                return .close
            },
            test: { port in
                try await withBench(TransferBench()) { bench in
                    try bench.folder.write(sample(300_000), to: "file")
                    let record = try await bench.engine.carry(
                        bench.upload("http://127.0.0.1:\(port)/x", .whole)
                    )
                    // It may have been cut off before it could be read.
                    #expect(record.status.state == .failed)
                    #expect(record.status.fault?.status == 413, "\(record.status)")
                }
            }
        )
    }
}
