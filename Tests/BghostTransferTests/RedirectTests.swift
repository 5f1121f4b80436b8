// SPDX-License-Identifier: Apache-2.0

import BghostTransfer
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct RedirectTests {
    struct Reference: Sendable {
        let location: String
        let target: String

        init(_ location: String, _ target: String) {
            self.location = location
            self.target = target
        }
    }

    /// `PORT` stands for the server's port.
    @Test(
        arguments: [
            Reference("d", "/a/b/d"), Reference("../d", "/a/d"), Reference("./", "/a/b/"),
            Reference("..", "/a/"), Reference("../../../../d", "/d"),
            Reference("?z=2", "/a/b/c?z=2"),
            Reference("/d?x=[1]", "/d?x=%5B1%5D"), Reference("/ü", "/%C3%BC"),
            Reference("/d/../e/./f?../g", "/e/f?../g"), Reference("d:e/..", "/"),
            Reference("//127.0.0.1:PORT/e", "/e"),
            Reference("http://127.0.0.1:PORT", "/"),
            Reference("http://localhost:PORT/f#there", "/f"),
        ]
    )
    func `Follows a reference of any form`(_ reference: Reference) async throws {
        let port = Mutex(UInt16(0))
        try await withServer { request in
            guard "\(request.uri)" == "/a/b/c?q=1" else {
                return Response(
                    status: .ok,
                    body: .init(byteBuffer: ByteBuffer(string: "\(request.uri)"))
                )
            }
            let own = String(port.withLock { $0 })
            let location = reference.location.split(
                separator: "PORT",
                omittingEmptySubsequences: false
            )
            .joined(separator: own)
            return Response(status: .found, headers: [.location: location])
        } test: { own in
            port.withLock { $0 = own }
            guard reference.location != "d:e/.." else {
                // A name before a colon is a scheme, and no such scheme can be fetched.
                await #expect {
                    try await fetch("http://127.0.0.1:\(own)/a/b/c?q=1")
                } throws: { error in
                    guard case FetchFailure.badRedirect("127.0.0.1:\(own)", _) = error else {
                        return false
                    }
                    return true
                }
                return
            }
            let response = try await fetch("http://127.0.0.1:\(own)/a/b/c?q=1")
            #expect(text(response) == reference.target)
        }
    }

    struct Rule: Sendable {
        let status: Int
        let method: String
        let expected: String

        init(_ status: Int, _ method: String, _ expected: String) {
            self.status = status
            self.method = method
            self.expected = expected
        }
    }

    @Test(
        arguments: [
            Rule(301, "POST", "GET - -"), Rule(302, "POST", "GET - -"),
            Rule(303, "POST", "GET - -"),
            Rule(303, "PUT", "GET - -"), Rule(301, "PUT", "PUT text/plain body"),
            Rule(302, "PUT", "PUT text/plain body"), Rule(307, "POST", "POST text/plain body"),
            Rule(308, "POST", "POST text/plain body"),
        ]
    )
    func `Keeps or drops the body as the status says`(_ rule: Rule) async throws {
        try await withServer { request in
            guard request.uri.path == "/done" else {
                return Response(status: .init(code: rule.status), headers: [.location: "/done"])
            }
            let body = String(buffer: try await request.body.collect(upTo: 100))
            let type = request.headers[.contentType] ?? "-"
            let seen = "\(request.method) \(type) \(body.isEmpty ? "-" : body)"
            return Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: seen)))
        } test: { port in
            let response = try await fetch(
                "http://127.0.0.1:\(port)/",
                method: rule.method,
                headers: [("Content-Type", "text/plain")],
                body: .bytes(Array("body".utf8))
            )
            #expect(text(response) == rule.expected)
        }
    }

    @Test func `A redirect status without a location is an answer`() async throws {
        try await withServer { _ in
            Response(status: .found)
        } test: { port in
            let response = try await fetch("http://127.0.0.1:\(port)/")
            #expect(response.status == 302)
        }
    }

    @Test func `A redirect out of the grants is refused before connecting`() async throws {
        let outside = try SilentSocket(accepts: true)
        try await withServer { _ in
            Response(
                status: .found,
                headers: [.location: "http://127.0.0.1:\(outside.port)/secret"]
            )
        } test: { port in
            // The listener accepts and never answers: without the check this would hang.
            await #expect(
                throws: FetchFailure.permissionDenied(host: "127.0.0.1", port: outside.port)
            ) {
                try await fetch("http://127.0.0.1:\(port)/") { $0 == "127.0.0.1" && $1 == port }
            }
        }
    }

    @Test func `A circle of redirects ends`() async throws {
        let requests = Mutex(0)
        try await withServer { _ in
            requests.withLock { $0 += 1 }
            return Response(status: .temporaryRedirect, headers: [.location: "/"])
        } test: { port in
            await #expect(throws: FetchFailure.tooManyRedirects(limit: 5)) {
                try await fetch("http://127.0.0.1:\(port)/")
            }
        }
        #expect(requests.withLock { $0 } == 6)
    }

    @Test func `Credentials do not cross origins`() async throws {
        let echo: @Sendable (Request) -> Response = { request in
            let names = [HTTPField.Name.authorization, .cookie, .accept]
            let seen = names.map { request.headers[$0] ?? "-" }.joined(separator: " ")
            return Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: seen)))
        }
        try await withServer { request in
            echo(request)
        } test: { other in
            try await withServer { request in
                switch request.uri.path {
                case "/same": Response(status: .found, headers: [.location: "/echo"])
                case "/other":
                    Response(status: .found, headers: [.location: "http://127.0.0.1:\(other)/"])
                default: echo(request)
                }
            } test: { port in
                let headers = [("Authorization", "a"), ("cookie", "b"), ("Accept", "c")]
                let same = try await fetch("http://127.0.0.1:\(port)/same", headers: headers)
                #expect(text(same) == "a b c")
                let across = try await fetch("http://127.0.0.1:\(port)/other", headers: headers)
                #expect(text(across) == "- - c")
            }
        }
    }
}
