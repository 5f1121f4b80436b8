// SPDX-License-Identifier: Apache-2.0

@testable import BghostTransfer
import Testing

/// Headers that the daemon adds to a fetch of a run.
@Suite(.timeLimit(.minutes(5))) struct FenceTests {
    private static func headers(
        _ method: String,
        own: [(String, String)] = [],
        occasion: String? = "R 1",
        path: String = "x",
        body: String = "b"
    ) async throws -> [String: String] {
        let host = FileHost([])
        try await withRawServer { request, responder in
            _ = host.note(request)
            try await responder.answer(200)
            return .keep
        } test: { port in
            let fetcher = HTTPFetcher(names: .system, network: .patient)
            var request = FetchRequest(
                url: "http://127.0.0.1:\(port)/\(path)",
                method: method,
                headers: own,
                body: method == "GET" ? .none : .bytes(Array(body.utf8))
            )
            request.epoch = 7
            request.occasion = occasion
            _ = try await fetcher.fetch(request) { _, _ in true }
            await fetcher.shutDown()
        }
        return host.requests.first?.headers ?? [:]
    }

    @Test func `The epoch is sent and the key where something may change`() async throws {
        let get = try await Self.headers("GET")
        #expect(get["x-bghost-fence"] == "7" && get["idempotency-key"] == nil)
        let post = try await Self.headers("POST")
        #expect(post["x-bghost-fence"] == "7")
        #expect(post["idempotency-key"]?.utf8.count == 32)
        let own = try await Self.headers("POST", own: [("Idempotency-key", "mine")])
        #expect(own["idempotency-key"] == "mine")
        #expect(try await Self.headers("POST", occasion: nil)["idempotency-key"] == nil)
    }

    @Test func `The key is the same for the same`() async throws {
        let host = FileHost([])
        try await withRawServer { request, responder in
            _ = host.note(request)
            try await responder.answer(200)
            return .keep
        } test: { port in
            let fetcher = HTTPFetcher(names: .system, network: .patient)
            for (occasion, body) in [("R 1", "b"), ("R 1", "b"), ("R 2", "b"), ("R 1", "c")] {
                var request = FetchRequest(
                    url: "http://127.0.0.1:\(port)/",
                    method: "PUT",
                    body: .bytes(Array(body.utf8))
                )
                request.occasion = occasion
                _ = try await fetcher.fetch(request) { _, _ in true }
            }
            await fetcher.shutDown()
        }
        let keys = host.requests.map { $0["idempotency-key"] }
        #expect(keys[0] == keys[1])
        #expect(Set(keys).count == 3)
    }

    @Test func `A plugin cannot set the fence`() async throws {
        await #expect(throws: FetchFailure.self) {
            try await Self.headers("GET", own: [("x-bghost-FENCE", "9")])
        }
    }
}
