// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// Alerts of the real daemon, with real workers and a real server on loopback.
@Suite(.ownThreads) struct AlertProgramTests {
    private let folder: TemporaryDirectory
    private let server: HTTPReceiver

    init() throws {
        folder = try TemporaryDirectory()
        server = try HTTPReceiver()
        server.start()
    }

    private func manifest(
        handler: String = "fail",
        host: String,
        expect: String = #"{"failures": 2}"#
    ) throws -> String {
        try folder.write(
            """
            {"version": 1, "host": \(host),
             "plugins": {"misbehave": {"library": "\(try Fixture.library("misbehave"))"}},
             "tasks": {
               "flaky": {"plugin": "misbehave", "handler": "\(handler)", "expect": \(expect)},
               "slow": {"plugin": "misbehave", "handler": "honour-cancel",
                        "expect": {"runtime": "1s"}, "limits": {"runtime": "60s"}}}}
            """,
            to: "tasks.json"
        )
    }

    private func alerts(_ digest: String = "100ms") -> String {
        """
        {"alerts": {"to": [{"webhook": "\(server.url)/hook", "secret": "s"}],
                    "digest": "\(digest)", "repeat": "1h"}}
        """
    }

    private func message(
        _ state: String,
        _ rule: String,
        within seconds: Int32 = 120
    ) -> JSONNode? {
        let request = server.request(within: seconds) { request in
            guard let node = try? JSONReader.parse(request.body) else { return false }
            return node["alerts"]?.array?.contains {
                $0["state"]?.string == state && $0["rule"]?.string == rule
            } == true
        }
        return request.flatMap { try? JSONReader.parse($0.body) }
    }

    private func count(_ state: String, _ rule: String) -> Int {
        server.requests.count { request in
            (try? JSONReader.parse(request.body))?["alerts"]?.array?.contains {
                $0["state"]?.string == state && $0["rule"]?.string == rule
            } == true
        }
    }

    private func failTwice(_ daemon: TestDaemon) throws {
        for _ in 0..<2 {
            #expect(try daemon.command(["trigger", "flaky", "--wait"]).exitCode == 1)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `Failures in a row reach a server that first refuses, and so does their end`() throws {
        let daemon = try TestDaemon(manifest: try manifest(host: alerts()), folder: folder)
        server.answer([503, 503])
        try failTwice(daemon)
        let firing = try #require(message("firing", "failures"), "\(daemon.program.lines)")
        #expect(firing["alerts"]?.array?.first?["subject"]?.string == "flaky")
        // Once it is taken, the daemon says so.
        var shown = ""
        while !shown.contains("told") || shown.contains("not told") {
            shown = try daemon.command(["alerts"]).output
        }
        #expect(shown.contains("failures flaky"), "\(shown)")
        #expect(try daemon.command(["health"]).exitCode == 1)
        let json = try JSONReader.parse(try daemon.command(["alerts", "--json"]).output)
        #expect(json["alerts"]?.array?.first?["toldAt"]?.string != nil)
        let metrics = try daemon.command(["metrics"]).output
        #expect(metrics.contains(#"bghost_alerts_firing{rule="failures"} 1"#), "\(metrics)")
        #expect(metrics.contains("bghost_alerts_failed_total 2"))

        _ = try manifest(handler: "succeed", host: alerts())
        #expect(try daemon.command(["reload"]).exitCode == 0)
        #expect(try daemon.command(["trigger", "flaky", "--wait"]).exitCode == 0)
        #expect(message("resolved", "failures") != nil)
        #expect(try daemon.command(["alerts"]).output.contains("no alert fires"))
        #expect(daemon.stop() == 0)
        server.stop()
    }

    @Test(.timeLimit(.minutes(10)))
    func `A restart between firing and resolved tells each once`() throws {
        let path = try manifest(host: alerts())
        let first = try TestDaemon(manifest: path, folder: folder)
        try failTwice(first)
        try #require(message("firing", "failures") != nil)
        var shown = "not told"
        while shown.contains("not told") { shown = try first.command(["alerts"]).output }
        // The store takes one transaction after the other: when it has this one, it has that.
        #expect(try first.command(["submit", "slow", "--earliest", "+9h"]).exitCode == 0)
        first.program.signal(SIGKILL)
        #expect(first.program.end() == -SIGKILL)

        let second = try TestDaemon(manifest: path, folder: folder)
        shown = try second.command(["alerts"]).output
        #expect(shown.contains("failures flaky") && !shown.contains("not told"), "\(shown)")
        #expect(second.stop() == 0)
        #expect(count("firing", "failures") == 1)

        _ = try manifest(handler: "succeed", host: alerts())
        let third = try TestDaemon(manifest: path, folder: folder)
        #expect(try third.command(["trigger", "flaky", "--wait"]).exitCode == 0)
        #expect(message("resolved", "failures") != nil)
        #expect(third.stop() == 0)
        #expect(count("firing", "failures") == 1 && count("resolved", "failures") == 1)
        server.stop()
    }

    @Test(.timeLimit(.minutes(10)))
    func `A long run and a task without success alarm by the clock`() throws {
        let path = try manifest(host: alerts(), expect: #"{"every": "3s"}"#)
        let daemon = try TestDaemon(manifest: path, folder: folder)
        #expect(try daemon.command(["trigger", "slow"]).exitCode == 0)
        #expect(message("firing", "long-run") != nil)
        let late = try #require(message("firing", "no-success"))
        #expect(late["text"]?.string?.contains("flaky has not succeeded in time") == true)
        #expect(daemon.stop() == 0)
        server.stop()
    }

    @Test(.timeLimit(.minutes(10)))
    func `A clock that is set forward raises no alert for a task without success`() throws {
        let path = try manifest(host: alerts(), expect: #"{"every": "25h"}"#)
        let daemon = try TestDaemon(manifest: path, folder: folder)
        #expect(try daemon.command(["simulate", "clock", "+26h"]).exitCode == 0)
        #expect(try daemon.command(["alerts"]).output.contains("no alert fires"))
        #expect(daemon.stop() == 0)
        server.stop()
    }

    @Test(.timeLimit(.minutes(10)))
    func `A clock that is set back does not silence a task without success`() throws {
        let path = try manifest(
            handler: "succeed",
            host: alerts(),
            expect: #"{"every": "3s"}"#
        )
        let daemon = try TestDaemon(manifest: path, folder: folder)
        try #require(message("firing", "no-success") != nil)
        #expect(try daemon.command(["simulate", "clock", "+10h"]).exitCode == 0)
        #expect(try daemon.command(["trigger", "flaky", "--wait"]).exitCode == 0)
        #expect(message("resolved", "no-success") != nil)
        // On a busy machine it fires again before this.
        let before = count("firing", "no-success")
        #expect(try daemon.command(["simulate", "clock", "real"]).exitCode == 0)
        if before < 2 {
            let again = server.request(within: 120) { _ in count("firing", "no-success") > before }
            #expect(again != nil, "it is silent: \(daemon.program.lines)")
        }
        #expect(daemon.stop() == 0)
        server.stop()
    }

    @Test(.timeLimit(.minutes(10)))
    func `A test shows what each receiver answers`() throws {
        let mail = folder.file("mail")
        let path = try manifest(
            host: """
                {"alerts": {"to": [
                  {"webhook": "\(server.url)?key=geheim"},
                  {"ntfy": "\(server.url)/topic", "token": "t"},
                  {"command": ["/bin/sh", "-c", "cat > \(mail)"], "to": "ops@example.org"},
                  {"command": ["/bin/sh", "-c", "echo no route; exit 75"]}]}}
                """
        )
        let daemon = try TestDaemon(manifest: path, folder: folder)
        server.answer([404])
        let answer = try daemon.command(["alerts", "test"])
        #expect(answer.exitCode == 1)
        let lines = answer.output.split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines.count { $0.contains("it answered 404") } == 1, "\(answer.output)")
        #expect(lines.count { $0.contains("it answered 200") } == 1)
        #expect(lines[2].contains("command /bin/sh: exit 0"))
        #expect(lines[3].contains("command /bin/sh (2): exit 75: no route"))
        let text = String(decoding: try File.read(mail), as: UTF8.self)
        #expect(text.hasPrefix("To: ops@example.org\nSubject: bghost on "))
        let isSecret = ["geheim", "/topic"].allSatisfy { !answer.output.contains($0) }
        #expect(isSecret, "addresses of webhooks are secrets: \(answer.output)")
        #expect(daemon.stop() == 0)
        server.stop()
    }

    @Test(.timeLimit(.minutes(10)))
    func `The heartbeat reports life, trouble, and nothing after the end`() throws {
        let path = try manifest(
            host: #"{"heartbeat": {"url": "\#(server.url)/ping", "every": "1s"}}"#
        )
        let daemon = try TestDaemon(manifest: path, folder: folder)
        #expect(server.request { $0.method == "GET" && $0.target == "/ping" } != nil)
        try failTwice(daemon)
        let fail = try #require(server.request { $0.target == "/ping/fail" })
        #expect(fail.method == "POST" && fail.body.contains("flaky fails"))
        #expect(try daemon.command(["alerts"]).output.contains("heartbeat \(server.url)"))
        daemon.program.signal(SIGKILL)
        #expect(daemon.program.end() == -SIGKILL)
        // What was under way arrives; then there is silence for three periods.
        server.takeAll()
        while server.another(within: 0) {}
        let count = server.requests.count
        #expect(!server.another(within: 3))
        #expect(server.requests.count == count)
        server.stop()
    }
}
