// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostConfiguration
import BghostCrypto
import BghostModel
import BghostOwnerSupport
@testable import BghostControl
@testable import BghostHost
import BghostPolicy
@testable import BghostStore
import BghostTestSupport
import Glibc
import Testing

/// What the servers note of those who change something.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct AuditRouteTests {
    private static let task = "com.acme.storm"

    @Test func `Each call that changes something is audited, and no question is`() {
        for endpoint in Endpoint.allCases {
            #expect((endpoint.auditing == .never) == (endpoint.verb == "GET"), "\(endpoint)")
        }
        let verbs = Endpoint.allCases.filter { $0.auditing != .never }.map(\.auditVerb)
        // `cancel` and `cancelAll` are one verb with two kinds of targets.
        #expect(Set(verbs).count == verbs.count - 1)
    }

    @Test func `Changes are all verbs but logins`() {
        var query = AuditQuery(limit: 1)
        query.onlyChanges = true
        for endpoint in Endpoint.allCases where endpoint.auditing != .never {
            let verb = endpoint.auditVerb
            for status in [AuditStatus.stored, .done] {
                let entry = AuditEntry(at: 1, AuditActor(.socket), verb: verb, status: status)
                #expect(query.matches(entry) == (endpoint.auditing != .login), "\(verb)")
            }
            let refused = AuditEntry(at: 1, AuditActor(.socket), verb: verb, status: .refused)
            #expect(!query.matches(refused), "\(verb)")
        }
    }

    @Test func `A row names the user, the target and the hash of what was sent`() async throws {
        try await Serving.with { serving in
            try await serving.ask { client in
                _ = try await client.trigger(Submission(task: Self.task))
                _ = try await client.submit(Submission(task: Self.task))
                _ = try await client.disable(plugin: "storm", reason: "secret reason")
                _ = try await client.simulate(fact: "network=off")
                _ = try await client.status()
                _ = try await client.reload(dryRun: true)
            }
            let rows = serving.host.audited
            #expect(rows.map(\.verb) == ["trigger", "disable", "simulate fact", "simulate fact"])
            #expect(rows.map(\.status) == [.stored, .stored, .begun, .done])
            #expect(rows.map(\.target) == [Self.task, "storm", "network=off", "network=off"])
            #expect(rows.allSatisfy { $0.actor.way == .socket && $0.actor.uid == geteuid() })
            #expect(rows.allSatisfy { $0.actor.pid == getpid() })
            #expect(geteuid() != 0 || rows.allSatisfy { $0.actor.user == "root" })
            let body = APICoder.json(API.SubmitBody(Submission(task: Self.task)))
            #expect(rows.first?.digest == SHA256.hash(data: body))
            #expect(!"\(rows)".contains("secret"))
            // The two rows share a number.
            #expect(rows[2].refs.hasPrefix("op:") && rows[2].refs == rows[3].refs)
        }
    }

    @Test func `What is refused is noted with its code`() async throws {
        try await Serving.with { serving in
            _ = await fault {
                try await serving.ask { _ = try await $0.enable(plugin: "nosuch") }
            }
            _ = await fault {
                try await serving.ask {
                    _ = try await $0.backUp(to: "/etc/\u{1B}[2J\u{0}\"", includesData: false)
                }
            }
            let foreign = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send(
                    "POST /v1/reload HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil\r\n\r\n"
                )
                return connection.receiveAnswer()
            }
            #expect(foreign.contains("403"))
            let rows = serving.host.audited
            #expect(rows.map(\.verb) == ["enable", "backup", "backup", "POST"])
            #expect(rows.map(\.status) == [.refused, .begun, .failed, .refused])
            #expect(rows.map(\.code) == ["BG4019", "", "BG4024", "BG2120"])
            #expect(rows[1].target == "/etc/\u{1B}[2J\u{0}\"")
            #expect(rows[3].target == "/v1/reload" && rows[3].actor.uid == geteuid())
            let shown = try await Bghost.run(["audit", "--control", serving.socketPath])
            #expect(shown.exitCode == 0 && !shown.output.contains("\u{1B}[2J"), "\(shown)")
        }
    }

    @Test func `Without room for its row a verb is refused and does nothing`() async throws {
        let store = ScriptedStore()
        store.answerAtOnce(.success(()))
        let host = try await TestHost.start {
            $0.host.audit.isRequired = true
        } configuration: {
            $0.openStore = { _ in store }
        }
        try await Serving.with(host) { serving in
            store.answerAtOnce(.failure(StoreError("no space")))
            let failure = StoreHealth.Failure(
                since: 1,
                error: StoreError("no space"),
                isFinal: false
            )
            await store.setHealth(StoreHealth(failure: failure))
            await host.untilReadiness { !$0.ready }
            for body in Self.verbs {
                let fault = await fault { try await serving.ask(body) }
                #expect(fault?.code == .auditFailed)
                #expect(fault?.message.hasPrefix("nothing was done") == true)
            }
            #expect(await host.control.status().plugins.map(\.switchedOff) == [nil])
            #expect(await host.control.runs(task: nil, limit: 1).isEmpty)
            // The host ends in order.
            store.answerAtOnce(.success(()))
            await store.setHealth(StoreHealth())
        }
    }

    private static let verbs: [@Sendable (ControlClient) async throws -> Void] = [
        { _ = try await $0.trigger(Submission(task: task)) },
        { _ = try await $0.disable(plugin: "storm", reason: "x") },
        { _ = try await $0.simulate(fact: "network=off") },
        { _ = try await $0.reload(dryRun: false) },
        { _ = try await $0.cancelPending(task: nil) },
        { _ = try await $0.cancelPending(tag: "nightly") },
    ]

    @Test func `Logins, sessions and wrong tokens are noted`() async throws {
        try await DashboardServing.with { serving in
            let token = try serving.session()
            let wrong = try await serving.answer(
                "POST /v1/web/session",
                body: #"{"ticket":"0123"}"#
            )
            #expect(wrong.contains("401"))
            let done = try await serving.answer(
                "POST /v1/plugins/storm/disable?reason=x",
                token: token,
                body: "{}"
            )
            #expect(done.contains("200 OK"), "\(done)")
            _ = try await serving.answer("GET /v1/status", token: "nonsense")
            _ = try await serving.answer("GET /v1/status")
            _ = try await serving.answer("DELETE /v1/web/session", token: token, body: "{}")
            let rows = serving.host.audited
            #expect(rows.map(\.verb) == ["login", "disable", "GET", "logout"])
            #expect(rows.map(\.status) == [.refused, .stored, .refused, .done])
            #expect(rows.map(\.code) == ["BG2123", "", "BG2122", ""])
            #expect(rows.allSatisfy { $0.actor.way == .dashboard && $0.actor.pid == nil })
            #expect(rows.map(\.actor.uid) == [nil, 4711, nil, 4711])
            let session = rows[1].actor.session
            #expect(
                session.count == 12 && !token.contains(session) && rows[3].actor.session == session
            )
        }
    }

    @Test func `A login has the session that it began`() async throws {
        try await DashboardServing.with { serving in
            let link = try await ControlClient.with(socketPath: serving.socketPath) {
                try await $0.dashboardTicket().value.url
            }
            let ticket = try #require(link.split(separator: "#").last)
            let began = try await serving.answer(
                "POST /v1/web/session",
                body: "{\"ticket\":\"\(ticket)\"}"
            )
            #expect(began.contains("201"))
            let rows = serving.host.audited
            #expect(rows.map(\.verb) == ["ticket", "login"])
            #expect(rows.map(\.actor.way) == [.socket, .dashboard])
            #expect(rows.allSatisfy { $0.actor.uid == geteuid() && $0.status == .done })
            #expect(rows[1].actor.session.count == 12)
            #expect(!"\(rows)".contains(ticket))
        }
    }

    @Test func `The command shows rows, follows them and fails at a break`() async throws {
        try await Serving.with { serving in
            let control = ["--control", serving.socketPath]
            try await serving.ask { _ = try await $0.trigger(Submission(task: Self.task)) }
            let shown = try await Bghost.run(["audit"] + control)
            #expect(
                shown.output.contains("trigger") && shown.output.contains(Self.task),
                "\(shown)"
            )
            let json = try await Bghost.run(["audit", "--verb", "trigger", "--json"] + control)
            #expect(json.output.contains(#""schema":"bghost.audit/1""#), "\(json)")
            let none = try await Bghost.run(["audit", "--target", "nothing*"] + control)
            #expect(none.output == "no such rows\n")
            let bad = try await Bghost.run(["audit", "--since", "soon"] + control)
            #expect(bad.exitCode == 64 && bad.error.contains("BG4020"), "\(bad)")
            let intact = try await Bghost.run(["audit", "verify"] + control)
            #expect(intact.exitCode == 0 && intact.output.contains("intact: 1 row"), "\(intact)")
            let head = "9:" + String(repeating: "0f", count: 32)
            let cut = try await Bghost.run(["audit", "verify", "--head", head] + control)
            #expect(cut.exitCode == 1 && cut.output.contains("broken at row 2"), "\(cut)")
            let text = try await Bghost.run(["audit", "verify", "--head", "9:zz"] + control)
            #expect(text.exitCode == 64 && text.error.contains("no head"), "\(text)")
        }
    }
}
