// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
@testable import BghostControl
import BghostLinux
import BghostModel
import BghostTestSupport
import Synchronization
import Testing

/// Who reaches what at the dashboard's address.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct DashboardTests {
    private static let task = "com.acme.storm"

    // MARK: - Sessions

    @Test func `A link begins one session, with the role of the client that asked for it`()
        async throws
    {
        try await DashboardServing.with { serving in
            let ticket = try await ControlClient.with(socketPath: serving.socketPath) {
                try await $0.dashboardTicket().value
            }
            #expect(ticket.role == .operate)
            #expect(ticket.url.hasPrefix("http://127.0.0.1:\(serving.port)/#"))
            let key = String(ticket.url.split(separator: "#").last ?? "")
            let body = #"{"ticket":"\#(key)"}"#
            let begun = try await serving.answer("POST /v1/web/session", body: body)
            #expect(begun.hasPrefix("HTTP/1.1 201 "), "\(begun)")
            let json = try JSONReader.parse(Array(begun.utf8.drop { $0 != UInt8(ascii: "{") }))
            let token = try #require(json["token"]?.string)
            #expect(json["role"]?.string == "operate")
            let status = try await serving.answer("GET /v1/status", token: token)
            #expect(status.hasPrefix("HTTP/1.1 200 "), "\(status)")
            let again = try await serving.answer("POST /v1/web/session", body: body)
            #expect(again.hasPrefix("HTTP/1.1 401 ") && again.contains("BG2123"), "\(again)")

            let ended = try await serving.answer("DELETE /v1/web/session", token: token)
            #expect(ended.hasPrefix("HTTP/1.1 200 "), "\(ended)")
            let late = try await serving.answer("GET /v1/status", token: token)
            #expect(late.hasPrefix("HTTP/1.1 401 ") && late.contains("BG2122"), "\(late)")
        }
    }

    @Test func `Tickets and sessions end by the clock, and their number is limited`() throws {
        let now = Mutex<MonotonicInstant>(1000)
        let sessions = DashboardSessions(
            sessionTime: .seconds(3600),
            now: { now.withLock { $0 } },
            wall: { 7 }
        )
        let second: UInt64 = 1_000_000_000
        let caller = Caller(peer: PeerCredentials(), role: .read)
        let late = sessions.makeTicket(for: caller)
        now.withLock { $0 += 60 * second }
        #expect(sessions.begin(ticket: late.key) == nil, "a minute has passed")
        let ticket = sessions.makeTicket(for: caller)
        now.withLock { $0 += 60 * second - 1 }
        let session = try #require(sessions.begin(ticket: ticket.key))
        #expect(session.key != ticket.key && session.key.utf8.count == 32)
        #expect(session.expiresAt == 7 + 3_600_000_000_000)
        #expect(sessions.begin(ticket: ticket.key) == nil)
        let found = try #require(sessions.caller(token: session.key))
        #expect(found.peer == caller.peer && found.role == caller.role && found.session.count == 12)
        #expect(sessions.caller(token: ticket.key) == nil && sessions.caller(token: "") == nil)
        now.withLock { $0 += 3600 * second }
        #expect(sessions.caller(token: session.key) == nil)

        var tokens: [String] = []
        for _ in 0..<DashboardSessions.sessionsMax + 1 {
            now.withLock { $0 += 1 }
            let key = sessions.makeTicket(for: caller).key
            tokens.append(try #require(sessions.begin(ticket: key)).key)
        }
        #expect(sessions.caller(token: tokens[0]) == nil, "the oldest made room")
        #expect(tokens.dropFirst().allSatisfy { sessions.caller(token: $0) != nil })
        let links = (0...DashboardSessions.ticketsMax).map { _ in
            now.withLock { $0 += 1 }
            return sessions.makeTicket(for: caller).key
        }
        #expect(sessions.begin(ticket: links[0]) == nil)
        #expect(sessions.begin(ticket: links[1]) != nil)
    }

    @Test func `A session cannot make a ticket`() async throws {
        try await DashboardServing.with { serving in
            let token = try serving.session()
            let answer = try await serving.answer("POST /v1/web/tickets", token: token, body: "{}")
            #expect(answer.hasPrefix("HTTP/1.1 404 "), "\(answer)")
        }
    }

    @Test func `A session to read changes nothing, and changes are told with their user`()
        async throws
    {
        let told = Mutex<[String]>([])
        try await DashboardServing.with(
            onVerb: { verb in
                told.withLock { $0.append(verb.sentence) }
            }
        ) { serving in
            let trigger = "POST /v1/tasks/\(Self.task)/trigger"
            let reader = try serving.session(.read)
            let refused = try await serving.answer(trigger, token: reader, body: "{}")
            #expect(refused.hasPrefix("HTTP/1.1 403 ") && refused.contains("BG2110"), "\(refused)")
            let runs = try await serving.answer("GET /v1/runs", token: reader)
            #expect(runs.hasPrefix("HTTP/1.1 200 "), "\(runs)")
            let operator_ = try serving.session(.operate)
            let done = try await serving.answer(trigger, token: operator_, body: "{}")
            #expect(done.hasPrefix("HTTP/1.1 202 "), "\(done)")
        }
        #expect(
            told.withLock { $0 } == [
                "POST /v1/tasks/\(Self.task)/trigger by uid 4711 at the dashboard: 403",
                "POST /v1/tasks/\(Self.task)/trigger by uid 4711 at the dashboard: 202",
            ]
        )
    }

    // MARK: - Requests of others

    @Test func `Without a session only the pages and the probes answer`() async throws {
        try await DashboardServing.with { serving in
            for endpoint in Endpoint.allCases where endpoint != .beginSession {
                let line = endpoint.rawValue.replacing(":id", with: "x").replacing(
                    ":name",
                    with: "x"
                )
                for token in [nil, "", "0", String(repeating: "0", count: 32)] {
                    let answer = try await serving.answer(line, token: token, body: "{}")
                    let isOpen = [.alive, .ready].contains(endpoint)
                    #expect(
                        isOpen != answer.hasPrefix("HTTP/1.1 401 "),
                        "\(line) with \(token ?? "no token"): \(answer)"
                    )
                }
            }
            for path in ["/app/", "/app/nosuch.js", "/app/../page.c", "/app/..%2Fpage.c"] {
                let answer = try await serving.answer("GET \(path)")
                #expect(answer.hasPrefix("HTTP/1.1 404 "), "\(path): \(answer)")
            }
        }
    }

    @Test(arguments: [
        ("Host: evil.example", "421"), ("Host: 127.0.0.1", "421"), ("Host: 127.0.0.1:1", "421"),
        ("Host: 127.0.0.1.evil.example", "421"), ("Host: ops.example.evil", "421"),
        ("Origin: https://evil.example", "403"), ("Origin: null", "403"),
        ("Origin: http://127.0.0.1:1", "403"), ("Sec-Fetch-Site: cross-site", "403"),
        ("Sec-Fetch-Site: same-site", "403"), ("Sec-Fetch-Site: same-origin", "200"),
        ("Sec-Fetch-Site: none", "200"), ("Host: ops.example", "200"),
        ("Referer: https://evil.example/", "403"), ("Referer: http://ops.example.evil/", "403"),
        ("Host: ops.example\r\nReferer: https://ops.example/app/", "200"),
        ("Host: ops.example\r\nHost: ops.example", "403"),
    ])
    func `Another page reads nothing, also with a token`(field: String, status: String) async throws
    {
        try await DashboardServing.with(hosts: ["ops.example"]) { serving in
            let token = try serving.session()
            let answer = try await serving.answer("GET /v1/status", token: token, fields: [field])
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(field): \(answer)")
            // A link of another page may open the dashboard, which then asks for a login.
            let page = try await serving.answer("GET /", fields: [field])
            let isLink = field.hasPrefix("Sec-Fetch-Site") || field.hasPrefix("Referer")
            let opens = isLink || status == "200"
            #expect(page.hasPrefix("HTTP/1.1 200 ") == opens, "\(field): \(page)")
        }
    }

    @Test func `Each answer forbids scripts, frames and other sites`() async throws {
        try await DashboardServing.with { serving in
            for line in ["GET /", "GET /nosuch", "GET /v1/status", "POST /v1/web/session"] {
                let answer = try await serving.answer(
                    line,
                    body: line.hasPrefix("POST") ? "{" : nil
                )
                for part in [
                    "default-src 'none'", "frame-ancestors 'none'", "trusted-types 'none'",
                    "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer",
                    "Cross-Origin-Resource-Policy: same-origin",
                ] {
                    #expect(answer.contains(part), "\(line): \(answer)")
                }
                #expect(!answer.contains("Access-Control-Allow"))
            }
        }
    }

    // MARK: - Pages

    @Test func `Each file of the pages is served, and once more only if it changed`() async throws {
        let folder = PackageRoot.path + "/Sources/CBghostPage/page"
        let names = try File.list(folder)
        #expect(names.contains("index.html"))
        try await DashboardServing.with { serving in
            for name in names {
                let path = name == "index.html" ? "/" : "/app/\(name)"
                let answer = try await serving.answer("GET \(path)")
                #expect(
                    answer.hasPrefix("HTTP/1.1 200 "),
                    "\(path) is not embedded: add it to page.c"
                )
                let content = String(decoding: try File.read("\(folder)/\(name)"), as: UTF8.self)
                #expect(answer.hasSuffix("\r\n\r\n" + content), "\(path)")
                let tag = answer.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") }
                let known = try #require(tag).dropFirst("ETag: ".count)
                let again = try await serving.answer(
                    "GET \(path)",
                    fields: ["If-None-Match: \(known)"]
                )
                #expect(again.hasPrefix("HTTP/1.1 304 "), "\(path): \(again)")
            }
        }
    }

    /// A slow line gets all of the pages at the first visit, and each program contains them.
    @Test func `The pages are small`() throws {
        let folder = PackageRoot.path + "/Sources/CBghostPage/page"
        let sizes = try File.list(folder).map { name in
            (name, try File.read("\(folder)/\(name)").count)
        }
        let size = sizes.reduce(0) { $0 + $1.1 }
        #expect(size <= 160 << 10, "\(size) bytes: \(sizes.sorted { $0.1 > $1.1 }.prefix(5))")
        let packed = try Command.run(["sh", "-c", "cat '\(folder)'/* | gzip -9 | wc -c"])
        let packedSize = try #require(Int(packed.output.filter(\.isNumber)))
        #expect(packedSize <= 48 << 10, "\(packedSize) bytes, packed")
    }

    // MARK: - Not served

    @Test func `Without a dashboard a client learns how to get one`() async throws {
        try await Serving.with { serving in
            let refusal = await fault {
                try await serving.ask { _ = try await $0.dashboardTicket() }
            }
            #expect(refusal?.code == .noDashboard)
            #expect(refusal?.fix.contains(#""listen": "127.0.0.1:8645""#) == true)
        }
    }

    @Test func `A port in use does not stop the daemon`() async throws {
        try await DashboardServing.with { taken in
            let address = try #require(LoopbackAddress("127.0.0.1:\(taken.port)"))
            let dashboard = Dashboard(DashboardSettings(listen: address))
            let (failures, told) = AsyncStream<String>.makeStream()
            let server = DashboardServer(
                host: taken.host.control,
                dashboard: dashboard,
                onFailure: {
                    told.yield($0)
                    told.finish()
                }
            )
            let serving = Task { await server.run() }
            var reasons: [String] = []
            for await reason in failures { reasons.append(reason) }
            serving.cancel()
            await serving.value
            #expect(reasons.first?.contains("127.0.0.1:\(taken.port)") == true)
            let caller = Caller(peer: PeerCredentials(), role: .operate)
            let refusal = await fault { _ = try dashboard.ticket(for: caller) }
            #expect(refusal?.code == .noDashboard && refusal?.message == reasons.first)
        }
    }
}
