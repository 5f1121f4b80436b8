// SPDX-License-Identifier: Apache-2.0

import BghostTransferRules
import BghostTestSupport
@testable import BghostTransfer
import Testing

/// Through a proxy nothing may be reached that may not be reached without one.
@Suite(.timeLimit(.minutes(5)))
struct ProxyTests {
    private static let content = sample(300_000)

    /// Names lead to this machine, which counts as part of the internet here unless a test says else.
    private func names(isLocal: Bool = false) -> NameLookup {
        NameLookup(addresses: { _ in .success([[127, 0, 0, 1]]) }, isLocal: { _ in isLocal })
    }

    private func through(_ port: Int, credentials: String = "", trusting file: String? = nil)
        -> NetworkSettings
    {
        var settings = NetworkSettings { name in
            switch name {
            case "http_proxy", "HTTPS_PROXY": "http://\(credentials)127.0.0.1:\(port)/"
            case "SSL_CERT_FILE": file
            default: nil
            }
        }
        settings.connectTimeout = .patient
        return settings
    }

    @Test(arguments: ["http", "https"])
    func `The proxy is asked for a checked address`(scheme: String) async throws {
        let folder = try TemporaryDirectory()
        let file = try TestAuthority.write(to: folder)
        let host = FileHost(Self.content)
        let proxy = TestProxy()
        let tls = scheme == "https" ? try TestAuthority.context(.good) : nil
        try await withRawServer(tls: tls) { request, responder in
            let number = host.note(request)
            return try await host.serve(request, responder, cut: number == 1 ? 100_000 : nil)
        } test: { port in
            try await proxy.run { proxyPort in
                let bench = try await TransferBench(
                    names: names(),
                    network: through(proxyPort, trusting: file)
                )
                try await withBench(bench) { bench in
                    let record = try await bench.engine.carry(
                        bench.download("\(scheme)://files.example:\(port)/x")
                    )
                    #expect(record.status.state == .done, "\(record.status)")
                    #expect(try bench.content() == Bytes(Self.content))
                }
            }
            let line = "CONNECT 127.0.0.1:\(port) HTTP/1.1"
            #expect(proxy.requests == [line, line])
            #expect(
                host.requests.map { $0["host"] } == [
                    "files.example:\(port)", "files.example:\(port)",
                ]
            )
        }
        #expect(host.requests.map(\.rangeStart) == [nil, 100_000])
        #expect(host.bodyBytes == Self.content.count)
    }

    @Test func `An upload goes through it too`() async throws {
        let host = FileHost([])
        let proxy = TestProxy()
        try await withRawServer { request, responder in
            _ = host.note(request)
            try await responder.answer(201)
            return .keep
        } test: { port in
            try await proxy.run { proxyPort in
                let bench = try await TransferBench(names: names(), network: through(proxyPort))
                try await withBench(bench) { bench in
                    try bench.folder.write(Self.content, to: "file")
                    let record = try await bench.engine.carry(
                        bench.upload("http://files.example:\(port)/x", .whole)
                    )
                    #expect(record.status.state == .done, "\(record.status)")
                }
            }
        }
        #expect(host.requests.map { Bytes($0.body) } == [Bytes(Self.content)])
        #expect(proxy.requests.count == 1)
    }

    enum Breach: String, CaseIterable, Sendable {
        /// A name of an address inside, which the proxy could reach.
        case localName
        case notGranted
        /// A server on the internet that leads inside.
        case redirect
        case unresolved
    }

    /// Not a byte goes to it for what is not allowed.
    @Test(arguments: Breach.allCases)
    func `The proxy is not asked for a forbidden server`(breach: Breach) async throws {
        let host = FileHost(Self.content)
        let proxy = TestProxy()
        try await withRawServer { request, responder in
            _ = host.note(request)
            try await responder.answer(302, [("Location", "http://inside.example:80/secret")])
            return .keep
        } test: { port in
            try await proxy.run { proxyPort in
                let names = NameLookup(
                    addresses: { name in
                        breach == .unresolved
                            ? .failure(NameFailure(reason: "unknown"))
                            : .success([name == "inside.example" ? [10, 0, 0, 1] : [127, 0, 0, 1]])
                    },
                    isLocal: { breach == .localName || $0[0] == 10 }
                )
                let bench = try await TransferBench(
                    names: names,
                    network: through(proxyPort),
                    jitter: { $0 - 1 },
                    permits: { name, _ in breach != .notGranted || name != "files.example" }
                )
                try await withBench(bench) { bench in
                    let request = bench.download("http://files.example:\(port)/x")
                    guard breach != .notGranted else {
                        await #expect(throws: TransferFault.self) {
                            try await bench.engine.create(request)
                        }
                        return
                    }
                    _ = try await bench.engine.create(request)
                    let record = await bench.witness.first {
                        [.failed, .retrying].contains($0.status.state)
                    }
                    let code = record.status.fault?.code
                    #expect(code == (breach == .unresolved ? .unresolved : .forbidden))
                }
            }
            let redirected = ["CONNECT 127.0.0.1:\(port) HTTP/1.1"]
            #expect(proxy.requests == (breach == .redirect ? redirected : []))
        }
    }

    @Test(arguments: ["", "wrong:one@", "me:p%40ss%3Aword@"])
    func `The proxy gets its credentials`(credentials: String) async throws {
        let host = FileHost(Self.content)
        // me:p@ss:word
        let line = "proxy-authorization: Basic bWU6cEBzczp3b3Jk"
        let proxy = TestProxy { _, head in
            head.contains("\r\n\(line)\r\n") ? "200 OK" : "407 Who are you"
        }
        try await withRawServer { request, responder in
            _ = host.note(request)
            return try await host.serve(request, responder)
        } test: { port in
            try await proxy.run { proxyPort in
                let bench = try await TransferBench(
                    names: names(),
                    network: through(proxyPort, credentials: credentials),
                    jitter: { $0 - 1 }
                )
                try await withBench(bench) { bench in
                    let request = bench.download("http://files.example:\(port)/x")
                    _ = try await bench.engine.create(request)
                    let record = await bench.witness.first {
                        [.done, .retrying].contains($0.status.state)
                    }
                    guard credentials.hasPrefix("me") else {
                        let detail = record.status.fault?.detail ?? ""
                        #expect(record.status.fault?.code == .connection)
                        #expect(detail.contains("through the proxy 127.0.0.1:\(proxyPort)"))
                        #expect(detail.contains("password"))
                        #expect(!detail.contains("wrong"))
                        return
                    }
                    #expect(record.status.state == .done, "\(record.status)")
                }
            }
        }
        // The server gets no credentials.
        #expect(host.requests.allSatisfy { $0["proxy-authorization"] == nil })
        #expect(host.requests.count == (credentials.hasPrefix("me") ? 1 : 0))
    }

    @Test(arguments: ["403 No", "502 Unreachable", "100 What"])
    func `A refusal of the proxy is retried`(answer: String) async throws {
        let host = FileHost(Self.content)
        let proxy = TestProxy { number, _ in number == 1 ? answer : "200 OK" }
        try await withRawServer { request, responder in
            _ = host.note(request)
            return try await host.serve(request, responder)
        } test: { port in
            try await proxy.run { proxyPort in
                let bench = try await TransferBench(names: names(), network: through(proxyPort))
                try await withBench(bench) { bench in
                    let record = try await bench.engine.carry(
                        bench.download("http://files.example:\(port)/x")
                    )
                    #expect(record.status.state == .done, "\(record.status)")
                    #expect(bench.witness.faults == [.connection])
                }
            }
        }
        #expect(host.requests.count == 1)
    }

    @Test func `A fetch goes through it too`() async throws {
        let host = FileHost(Self.content)
        let proxy = TestProxy()
        try await withRawServer { request, responder in
            try await host.serve(request, responder)
        } test: { port in
            try await proxy.run { proxyPort in
                let fetcher = HTTPFetcher(names: names(), network: through(proxyPort))
                let url = "http://files.example:\(port)/x"
                let answer = try await fetcher.fetch(FetchRequest(url: url)) { _, _ in true }
                #expect(Bytes(answer.body) == Bytes(Self.content))
                await fetcher.shutDown()
            }
        }
        #expect(proxy.requests.count == 1)
    }

    struct Way: Sendable, CustomTestStringConvertible {
        let url: String
        let variables: [String: String]
        let proxy: String?

        init(_ url: String, _ variables: [String: String], _ proxy: String?) {
            self.url = url
            self.variables = variables
            self.proxy = proxy
        }

        var testDescription: String { "\(url) \(variables)" }
    }

    @Test(
        arguments: [
            Way("http://a.b/", [:], nil),
            Way("http://a.b/", ["http_proxy": "p:1"], "p:1"),
            Way("http://a.b/", ["HTTP_PROXY": "http://p"], "p:80"),
            Way("http://a.b/", ["http_proxy": "p:1", "HTTP_PROXY": "q:2"], "p:1"),
            Way("http://a.b/", ["http_proxy": "", "HTTP_PROXY": "q:2"], nil),
            Way("http://a.b/", ["https_proxy": "p:1"], nil),
            Way("https://a.b/", ["https_proxy": "p:1"], "p:1"),
            Way("https://a.b/", ["ALL_PROXY": "HTTP://u:p@[::1]:3128/x"], "[::1]:3128"),
            Way("http://a.b/", ["http_proxy": "p:1", "no_proxy": "*"], nil),
            Way("http://a.b/", ["http_proxy": "p:1", "no_proxy": "b"], nil),
            Way("http://a.b/", ["http_proxy": "p:1", "NO_PROXY": "x, A.B"], nil),
            Way("http://a.b/", ["http_proxy": "p:1", "no_proxy": ".a.b"], nil),
            Way("http://a.b/", ["http_proxy": "p:1", "no_proxy": "*.b"], nil),
            Way("http://ca.b/", ["http_proxy": "p:1", "no_proxy": "a.b"], "p:1"),
            Way("http://a.b/", ["http_proxy": "p:1", "no_proxy": "a.b:80"], nil),
            Way("http://a.b:81/", ["http_proxy": "p:1", "no_proxy": "a.b:80"], "p:1"),
            Way("http://10.1.2.3/", ["http_proxy": "p:1"], "p:1"),
            Way("http://10.1.2.3/", ["http_proxy": "p:1", "no_proxy": "10.0.0.0/8"], nil),
            Way("http://10.1.2.3/", ["http_proxy": "p:1", "no_proxy": "10.1.2.2/31"], nil),
            Way("http://10.1.2.4/", ["http_proxy": "p:1", "no_proxy": "10.1.2.2/31"], "p:1"),
            Way("http://10.1.2.3/", ["http_proxy": "p:1", "no_proxy": "10.0.0.0/33"], "p:1"),
            Way("http://10.1.2.3/", ["http_proxy": "p:1", "no_proxy": "10.1.2.3"], nil),
            Way("http://[fd00::1]/", ["http_proxy": "p:1", "no_proxy": "fd00::/8"], nil),
            Way("http://[fd00::1]/", ["http_proxy": "p:1", "no_proxy": "[fd00::1]:80"], nil),
            Way("http://[fe00::1]/", ["http_proxy": "p:1", "no_proxy": "fd00::1"], "p:1"),
            // A server on this machine is not reached through a proxy.
            Way("http://localhost/", ["http_proxy": "p:1"], nil),
            Way("http://127.9.9.9/", ["http_proxy": "p:1"], nil),
            Way("http://[::1]/", ["http_proxy": "p:1"], nil),
        ]
    )
    func `The environment says which way`(_ way: Way) throws {
        let settings = NetworkSettings { way.variables[$0] }
        #expect(try settings.proxy(for: way.url) == way.proxy)
    }

    /// To go around a proxy that cannot be used would be to break the operator's word.
    @Test(arguments: ["socks5://p:1", "https://p:1", "http://", "p q:1", "p:99999", "u:%zz@p:1"])
    func `An unusable proxy is not bypassed`(proxy: String) async throws {
        let host = FileHost(Self.content)
        try await withRawServer { request, responder in
            _ = host.note(request)
            return try await host.serve(request, responder)
        } test: { port in
            let settings = NetworkSettings { $0 == "all_proxy" ? proxy : nil }
            let bench = try await TransferBench(
                names: names(),
                network: settings,
                jitter: { $0 - 1 }
            )
            try await withBench(bench) { bench in
                _ = try await bench.engine.create(
                    bench.download("http://files.example:\(port)/x")
                )
                let record = await bench.witness.first(.retrying)
                #expect(record.status.fault?.detail.contains("all_proxy") == true)
            }
        }
        #expect(host.requests.isEmpty)
    }
}
