// SPDX-License-Identifier: Apache-2.0

@testable import BghostTransfer
import Testing

@Suite(.timeLimit(.minutes(5)))
struct BadRequestTests {
    struct Target: Sendable {
        let url: String
        let host: String
        let port: UInt16

        init(_ url: String, _ host: String, _ port: UInt16) {
            self.url = url
            self.host = host
            self.port = port
        }
    }

    @Test(
        arguments: [
            Target("HTTP://ExAmple.ORG", "example.org", 80),
            Target("https://example.org:8443/x?y#z", "example.org", 8443),
            Target("https://a_b.example-1.org./?@:", "a_b.example-1.org.", 443),
            Target("http://127.0.0.1?q", "127.0.0.1", 80),
            Target("http://127.1/", "127.1", 80),
            Target("http://[0:0:0:0:0:0:0:1]:8080/", "::1", 8080),
            Target("https://[2001:DB8::00ff]", "2001:db8::ff", 443),
            Target("http://xn--bcher-kva.example/", "xn--bcher-kva.example", 80),
        ]
    )
    func `Asks for the host and port that the URL names`(_ target: Target) async {
        await #expect(
            throws: FetchFailure.permissionDenied(host: target.host, port: target.port)
        ) {
            try await fetch(target.url) { _, _ in false }
        }
    }

    @Test(
        arguments: [
            "", "example.org", "/path", "http:/h/", "http:h", "://h/", "ftp://h/", "file:///etc",
            "http+unix://sock/", "http://", "http:///x", "http://?x", "http://user@h/",
            "http://user:pw@h/", "http://@h/", "http://h\\@evil/", "http://h:0/", "http://h:65536/",
            "http://h:-1/", "http://h:+1/", "http://h:/", "http://h:80:80/", "http://h:8o/",
            "http://[::1", "http://[::1]x/", "http://[::1%25eth0]/", "http://[127.0.0.1]/",
            "http://[]/", "http://[::1\0]/", "http://::1/", "http://exa mple/", "http://h\0/",
            "http://ex%61mple.org/", "http://bücher.example/", "http://a..b/", "http://.a/",
            "http://h/a b", "http://h/\u{7F}", "http://h/%zz", "http://h/%4", "http://h/x%",
            "http://h/ HTTP/1.1\r\nX: y", "http://h/\n", "http://h\r\n/", " http://h/",
            "http://h/" + String(repeating: "a", count: 9000),
            "http://" + String(repeating: "a", count: 254) + "/",
        ]
    )
    func `Refuses a URL that two parsers might read differently`(_ url: String) async {
        await #expect {
            try await fetch(url) { _, _ in
                Issue.record("a permission was asked for a URL that is none")
                return false
            }
        } throws: { error in
            guard case FetchFailure.badURL = error else { return false }
            return true
        }
    }

    struct Header: Sendable {
        let name: String
        let value: String

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    @Test(
        arguments: [
            Header("X", "a\r\nHost: evil"), Header("X", "a\nb"), Header("X", "a\rb"),
            Header("X", "a\0b"), Header("X", "\u{1B}[2J"), Header("X", "\u{7F}"),
            Header("", "a"), Header("X ", "a"), Header("X:", "a"), Header("X\r\nY", "a"),
            Header("Xé", "a"), Header("X\0", "a"), Header("Host", "evil"), Header("host", "evil"),
            Header("Content-Length", "0"), Header("Transfer-Encoding", "chunked"),
            Header("Connection", "Upgrade"), Header("UPGRADE", "h2c"), Header("TE", "trailers"),
            Header("Trailer", "X"), Header("Expect", "100-continue"), Header("Keep-Alive", "a"),
            Header("Proxy-Authorization", "a"), Header("Repr-Digest", "sha-256=:AAAA:"),
            Header("X", String(repeating: "a", count: 33 << 10)),
        ]
    )
    func `Refuses a header that could change the message around it`(_ header: Header) async {
        await #expect {
            try await fetch(
                "http://127.0.0.1:9/",
                headers: [("Accept", "*/*"), (header.name, header.value)],
                sendsDigest: true
            )
        } throws: { error in
            guard case FetchFailure.badHeader(header.name, _) = error else { return false }
            return true
        }
    }

    @Test(arguments: ["CONNECT", "trace", "GET /x HTTP/1.1\r\nHost:", "A B", "Ä", "G\0"])
    func `Refuses an invalid method`(_ method: String) async {
        await #expect(throws: FetchFailure.badMethod(method)) {
            try await fetch("http://127.0.0.1:9/", method: method)
        }
    }

    @Test func `Messages name the cure and keep secrets and control characters out`() async {
        let url = "https://api.example.org/v1?token=secret"
        let denied = await #expect(throws: FetchFailure.self) {
            try await fetch(url) { _, _ in false }
        }
        #expect(
            denied?.description == """
                this plugin may not reach api.example.org:443: to allow it, add \
                "api.example.org:443" to "permissions"."network" of the plugin in the manifest
                """
        )
        let bad = await #expect(throws: FetchFailure.self) {
            try await fetch("http://127.0.0.1/", headers: [("X\u{1B}[2J", "secret")])
        }
        #expect(bad?.description.contains("secret") == false)
        #expect(bad?.description.contains("\u{1B}") == false)
    }
}
