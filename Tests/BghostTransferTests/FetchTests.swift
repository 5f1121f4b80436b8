// SPDX-License-Identifier: Apache-2.0

@testable import BghostTransfer
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct FetchTests {
    @Test func `Gets an answer with headers and body`() async throws {
        try await withServer { request in
            let seen = "\(request.method) \(request.uri) \(request.headers[.userAgent] ?? "none")"
            return Response(
                status: .ok,
                headers: [.contentType: "text/plain", HTTPField.Name("X-Mixed-Case")!: "Kept"],
                body: .init(byteBuffer: ByteBuffer(string: seen))
            )
        } test: { port in
            let response = try await fetch("http://127.0.0.1:\(port)/a/b?c=d%20e&f=%5B#g")
            #expect(response.status == 200)
            #expect(text(response) == "GET /a/b?c=d%20e&f=%5B bghost/1.0")
            #expect(response.headers.contains { $0 == ("content-type", "text/plain") })
            #expect(response.headers.contains { $0 == ("x-mixed-case", "Kept") })
        }
    }

    @Test(
        arguments: [
            "/", "//x", "/a;b=1,c", "/?", "/a?b?c=/d", "/%2F..", "/a//b/", "/a:b@c", "/./../x",
            "/a%00b", "/a%0D%0Ab", "/'()*!$&+~", "/%E2%82%AC?%e2=%82",
        ]
    )
    func `The path arrives as it was written`(_ target: String) async throws {
        try await withServer { request in
            let seen = ByteBuffer(string: request.head.path ?? "none")
            return Response(status: .ok, body: .init(byteBuffer: seen))
        } test: { port in
            let response = try await fetch("http://127.0.0.1:\(port)\(target)")
            #expect(text(response) == target)
        }
    }

    @Test func `Sends method headers and bytes`() async throws {
        try await withServer { request in
            let body = try await request.body.collect(upTo: 1 << 20)
            let length = request.headers[.contentLength] ?? "none"
            let agent = request.headers[.userAgent] ?? "none"
            let seen = "\(request.method) \(length) \(agent) \(String(buffer: body))"
            return Response(status: .created, body: .init(byteBuffer: ByteBuffer(string: seen)))
        } test: { port in
            let response = try await fetch(
                "http://localhost:\(port)/",
                method: "patch",
                headers: [("user-agent", "tests/2")],
                body: .bytes(Array("hello".utf8))
            )
            #expect(response.status == 201)
            #expect(text(response) == "PATCH 5 tests/2 hello")
        }
    }

    @Test func `An error status is an answer`() async throws {
        try await withServer { _ in
            Response(status: .notFound, body: .init(byteBuffer: ByteBuffer(string: "no such")))
        } test: { port in
            let response = try await fetch("http://127.0.0.1:\(port)/")
            #expect(response.status == 404)
            #expect(text(response) == "no such")
        }
    }

    @Test func `Head may declare more than the limit`() async throws {
        try await withServer { _ in
            Response(status: .ok, body: .init(byteBuffer: ByteBuffer(repeating: 1, count: 5000)))
        } test: { port in
            let response = try await fetch(
                "http://127.0.0.1:\(port)/",
                method: "HEAD",
                bytesMax: 10
            )
            #expect(response.status == 200)
            #expect(response.body.isEmpty)
        }
    }

    @Test func `A body of declared length is held to the limit`() async throws {
        try await withServer { _ in
            Response(status: .ok, body: .init(byteBuffer: ByteBuffer(repeating: 7, count: 1000)))
        } test: { port in
            let url = "http://127.0.0.1:\(port)/"
            let whole = try await fetch(url, bytesMax: 1000)
            #expect(whole.body == Array(repeating: 7, count: 1000))
            await #expect(throws: FetchFailure.tooLarge(limit: 999)) {
                try await fetch(url, bytesMax: 999)
            }
        }
    }

    @Test func `A body without end is cut off at the limit`() async throws {
        let hungUp = Event()
        try await withServer { _ in
            Response(
                status: .ok,
                body: .init { writer in
                    defer { hungUp.occur() }
                    // Ends only because the client closes the connection.
                    while true { try await writer.write(ByteBuffer(repeating: 7, count: 1 << 16)) }
                }
            )
        } test: { port in
            await #expect(throws: FetchFailure.tooLarge(limit: 1 << 20)) {
                try await fetch("http://127.0.0.1:\(port)/", bytesMax: 1 << 20)
            }
            await hungUp.wait()
        }
    }

    @Test func `Headers of the answer are bounded`() async throws {
        try await withServer { request in
            let count = Int(request.uri.queryParameters["bytes"] ?? "") ?? 0
            return Response(
                status: .ok,
                headers: [HTTPField.Name("X-Long")!: String(repeating: "x", count: count)]
            )
        } test: { port in
            let response = try await fetch("http://127.0.0.1:\(port)/?bytes=30000")
            #expect(response.headers.contains { $0.0 == "x-long" && $0.1.utf8.count == 30_000 })
            await #expect(throws: FetchFailure.headersTooLarge(limit: 32 << 10)) {
                try await fetch("http://127.0.0.1:\(port)/?bytes=33000")
            }
        }
    }

    @Test func `Many fetches run side by side`() async throws {
        let arrived = Mutex(0)
        let all = Event()
        try await withServer { _ in
            // The server answers none before all requests are there: a client that sends them one by one hangs.
            if arrived.withLock({
                $0 += 1; return $0
            }) == 8 {
                all.occur()
            }
            await all.wait()
            return Response(status: .ok)
        } test: { port in
            let fetcher = HTTPFetcher(names: .system, network: .patient)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        let request = FetchRequest(url: "http://127.0.0.1:\(port)/")
                        return try await fetcher.fetch(request) { _, _ in true }.status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: 200, count: 8))
            await fetcher.shutDown()
        }
    }
}
