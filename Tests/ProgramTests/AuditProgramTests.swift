// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// The audit of the real daemon, by its commands and signals.
@Suite(.ownThreads) struct AuditProgramTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func manifest(_ host: String = "{}", every: String = "1h") throws -> String {
        try folder.write(
            """
            {"version": 1, "host": \(host),
             "plugins": {"misbehave": {"library": "\(try Fixture.library("misbehave"))",
                                       "maxPending": {"refresh": 1000}}},
             "tasks": {
               "tick": {"plugin": "misbehave", "handler": "succeed", "every": "\(every)"},
               "later.*": {"plugin": "misbehave", "handler": "succeed"}}}
            """,
            to: "tasks.json"
        )
    }

    private func rows(_ daemon: TestDaemon, _ arguments: [String] = []) throws -> [JSONNode] {
        let answer = try daemon.command(["audit", "--json", "--limit", "1000"] + arguments)
        let rows = try #require(try JSONReader.parse(answer.output)["rows"]?.array, "\(answer)")
        return rows.reversed()
    }

    private func lines(_ rows: [JSONNode]) -> [String] {
        rows.map { row in
            ["via", "verb", "target", "status", "code"].compactMap { row[$0]?.string }
                .joined(separator: " ")
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `Commands and signals leave their rows, across restarts`() throws {
        let path = try manifest()
        let first = try TestDaemon(manifest: path, folder: folder)
        #expect(try first.command(["submit", "later.1", "--earliest", "+1h"]).exitCode == 0)
        #expect(try first.command(["trigger", "tick", "--wait"]).exitCode == 0)
        #expect(try first.command(["disable", "misbehave", "--reason", "hidden"]).exitCode == 0)
        #expect(try first.command(["enable", "misbehave"]).exitCode == 0)
        #expect(try first.command(["pause", "tick", "--reason", "hidden"]).exitCode == 0)
        #expect(try first.command(["resume", "tick"]).exitCode == 0)
        #expect(try first.command(["cancel", "later.1"]).exitCode == 0)
        #expect(try first.command(["discard", "--all"]).exitCode == 0)
        #expect(try first.command(["enable", "nosuch"]).exitCode != 0)
        #expect(try first.command(["backup", folder.file("copy.db")]).exitCode == 0)
        #expect(try first.command(["reload", "--dry-run"]).exitCode == 0)
        _ = try manifest(every: "2h")
        first.program.signal(SIGHUP)
        let wanted = [
            "unix trigger tick stored", "unix disable misbehave stored",
            "unix enable misbehave stored", "unix pause tick stored",
            "unix resume tick stored", "unix cancel later.1 stored",
            "unix discard unchanged", "unix enable nosuch refused BG4019",
            "unix backup \(folder.file("copy.db")) begun",
            "unix backup \(folder.file("copy.db")) done", "signal reload SIGHUP begun",
            "signal reload SIGHUP done",
        ]
        // A signal has no answer to wait for.
        var found: [JSONNode] = []
        while found.count < wanted.count { found = try rows(first) }
        #expect(lines(found) == wanted)
        #expect(found.compactMap { $0["seq"]?.int64 } == (1...12).map(Int64.init))
        #expect(found[0]["uid"]?.int64 == Int64(geteuid()))
        let trigger = try #require(found[0]["refs"]?.string)
        let runs = try first.command(["runs", "tick", "--json"]).output
        #expect(runs.contains(trigger), "the request of the row has a run")
        #expect(!"\(found)".contains("hidden"))
        #expect(try lines(rows(first, ["--verb", "enable", "--target", "no*"])) == [wanted[7]])
        #expect(try rows(first, ["--actor", "signal"]).count == 2)
        #expect(try rows(first, ["--until", "1h"]).isEmpty)
        #expect(first.stop() == 0)
        let head = try #require(first.program.line(containing: "the audit ends with row"))
        let text = try #require(head.split(separator: " ").last.map(String.init))
        #expect(text.hasPrefix("13:"), "\(head)")

        let second = try TestDaemon(manifest: path, folder: folder)
        #expect(try lines(rows(second)).last == "signal drain begun")
        let verdict = try second.command(["audit", "verify", "--head", text])
        #expect(verdict.exitCode == 0 && verdict.output.contains("intact: 13 rows"), "\(verdict)")
        #expect(second.program.line(containing: "the audit ends with row \(text)") != nil)
        second.program.signal(SIGKILL)
        _ = second.program.end()
        // A row is changed by hand while no daemon runs.
        let change = try Command.run([
            "sqlite3", second.state + "/bghost.sqlite",
            "UPDATE audit SET uid = 4242 WHERE verb = 'disable'",
        ])
        try #require(change.exitCode == 0, "\(change)")
        let third = try TestDaemon(manifest: path, folder: folder)
        let broken = try third.command(["audit", "verify"])
        #expect(broken.exitCode == 1 && broken.output.contains("broken at row 2"), "\(broken)")
        #expect(third.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `What a reload changed is shown by bghost changes, also after a restart`() throws {
        try folder.write("s3cret-value", to: "token")
        let host = """
            {"alerts": {"to": [{"webhook": "https://chat.example/0p3n", "secret": "${file:token}"}]}}
            """
        let path = try manifest()
        let first = try TestDaemon(manifest: path, folder: folder)
        #expect(try first.command(["changes"]).output == "nothing was changed\n")
        #expect(try first.command(["pause", "tick"]).exitCode == 0)
        #expect(try first.command(["enable", "nosuch"]).exitCode != 0)
        _ = try manifest(host, every: "2h")
        let reloaded = try first.command(["reload"])
        #expect(reloaded.exitCode == 0, "\(reloaded)")
        // What is refused changes nothing, and a reload without changes has nothing to list.
        _ = try manifest("{\"slots\": \"many\"}")
        #expect(try first.command(["reload"]).exitCode != 0)
        _ = try manifest(host, every: "2h")
        #expect(try first.command(["reload"]).exitCode == 0)
        #expect(first.stop() == 0)

        let second = try TestDaemon(manifest: path, folder: folder)
        let shown = try second.command(["changes"])
        let lines = shown.output.split(separator: "\n").map(String.init)
        #expect(lines.count(where: { $0.hasSuffix("  reload") }) == 2, "\(shown)")
        #expect(lines.contains("  ~ task tick: every: 1h → 2h"), "\(shown)")
        // An address may be a secret, too.
        #expect(lines.contains("  ~ host: alerts.to has changed"), "\(shown)")
        #expect(lines[0].hasSuffix("  pause  tick") && !shown.output.contains("nosuch"), "\(shown)")
        #expect(!["s3cret", "0p3n", "many"].contains(where: shown.output.contains), "\(shown)")
        let json = try second.command(["changes", "--json", "--limit", "1"])
        #expect(try JSONReader.parse(json.output)["rows"]?.array?.count == 1, "\(json)")
        #expect(try second.command(["audit", "verify"]).exitCode == 0)
        #expect(second.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `What a start took up is shown by bghost changes`() throws {
        func host(_ secret: String) -> String {
            """
            {"alerts": {"to": [{"webhook": "https://chat.example/\(secret)"}]}}
            """
        }
        #expect(mkdir(folder.file("tasks.d"), 0o755) == 0)
        let path = try manifest(host("0ne"))
        let first = try TestDaemon(manifest: path, folder: folder)
        #expect(try first.command(["changes"]).output == "nothing was changed\n")
        #expect(first.stop() == 0)
        // The same files are no change, and neither is what a reload has taken up already.
        let second = try TestDaemon(manifest: path, folder: folder)
        _ = try manifest(host("n3w"), every: "2h")
        #expect(try second.command(["reload"]).exitCode == 0)
        let reloaded = try #require(second.program.line(containing: "alerts.to has changed"))
        #expect(!reloaded.contains("0ne") && !reloaded.contains("n3w"), "\(reloaded)")
        #expect(second.stop() == 0)
        let third = try TestDaemon(manifest: path, folder: folder)
        #expect(third.stop() == 0)

        _ = try manifest(host("tw0"), every: "3h")
        _ = try folder.write(
            #"{"signers": {"acme": {"key": "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"}}}"#,
            to: "tasks.d/acme.json"
        )
        let fourth = try TestDaemon(manifest: path, folder: folder)
        let told = try #require(
            fourth.program.line(containing: "changed since it was taken up last")
        )
        #expect(told.contains("task tick: every: 2h → 3h"), "\(told)")
        let shown = try fourth.command(["changes"])
        let lines = shown.output.split(separator: "\n").map(String.init)
        #expect(lines.count(where: { $0.contains("  reload") }) == 1, "\(shown)")
        #expect(lines.count(where: { $0.contains("  start  \(path)") }) == 1, "\(shown)")
        #expect(lines.contains("  ~ task tick: every: 2h → 3h"), "\(shown)")
        #expect(lines.contains("  ~ host: alerts.to has changed"), "\(shown)")
        #expect(lines.contains("  ~ signer acme: added"), "\(shown)")
        #expect(try fourth.command(["audit", "verify"]).exitCode == 0)
        #expect(fourth.stop() == 0)
        // Neither an address is kept, nor the log says it.
        let store = try File.read(folder.file("state/bghost.sqlite"))
        for secret in ["0ne", "n3w", "tw0"] {
            #expect(store.places(of: Array("example/\(secret)".utf8)).isEmpty)
            #expect(!fourth.program.lines.contains { $0.contains(secret) })
        }
    }

    /// Writes a manifest whose comparison with another one takes a while.
    private func thousandTasks(every: String) throws -> String {
        let tasks = (0..<1000).map {
            #""t\#($0)": {"plugin": "misbehave", "handler": "succeed", "every": "\#(every)"}"#
        }
        return try folder.write(
            """
            {"version": 1,
             "plugins": {"misbehave": {"library": "\(try Fixture.library("misbehave"))"}},
             "tasks": {\(tasks.joined(separator: ",\n"))}}
            """,
            to: "tasks.json"
        )
    }

    @Test(.timeLimit(.minutes(5)))
    func `Changes that are asked for right after a start have its row`() throws {
        let first = try TestDaemon(manifest: try thousandTasks(every: "1h"), folder: folder)
        #expect(try first.command(["changes"]).output == "nothing was changed\n")
        #expect(first.stop() == 0)
        let path = try thousandTasks(every: "2h")
        let second = try TestDaemon(manifest: path, folder: folder)
        var shown = try second.command(["changes"])
        // A busy disk may need longer than the daemon lets a question wait; the refusal says to ask again.
        while shown.exitCode == 75 { shown = try second.command(["changes"]) }
        let row = "  start  \(path)\n  ~ task t0: every: 1h → 2h\n"
        #expect(shown.output.contains(row), "\(shown)")
        #expect(second.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A reload of a thousand tasks keeps a bounded part of its changes`() throws {
        let daemon = try TestDaemon(manifest: try thousandTasks(every: "1h"), folder: folder)
        _ = try thousandTasks(every: "2h")
        #expect(try daemon.command(["reload"]).exitCode == 0)
        let found = try #require(try rows(daemon).last?["detail"]?.string)
        #expect(found.utf8.count <= 8192 && found.hasPrefix("~ task t0: every: 1h → 2h\n"))
        #expect(found.contains("\n… and ") && found.hasSuffix(" more"), "\(found.suffix(100))")
        #expect(daemon.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A drain has the row of who asked for it`() throws {
        let path = try manifest()
        let first = try TestDaemon(manifest: path, folder: folder)
        #expect(try first.command(["drain", "--finish"]).exitCode == 0)
        #expect(first.program.end() == 0)
        let second = try TestDaemon(manifest: path, folder: folder)
        #expect(try lines(rows(second)) == ["unix drain begun"])
        #expect(second.stop() == 0)
        let third = try TestDaemon(manifest: path, folder: folder)
        #expect(try lines(rows(third)) == ["unix drain begun", "signal drain begun"])
        #expect(third.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `bghost audit -f shows what is there and then each new row`() throws {
        let daemon = try TestDaemon(manifest: try manifest(), folder: folder)
        #expect(try daemon.command(["disable", "misbehave"]).exitCode == 0)
        let follow = try RunningProgram(command: [
            "sh", "-c",
            "exec \(Artifact.path("bghost")) audit -f --json --state-dir \(daemon.state) >&2",
        ])
        #expect(follow.line(containing: #""verb":"disable""#) != nil)
        #expect(try daemon.command(["enable", "misbehave"]).exitCode == 0)
        let row = try #require(follow.line(containing: #""verb":"enable""#))
        #expect(try JSONReader.parse(row)["seq"]?.int64 == 2)
        follow.signal(SIGINT)
        _ = follow.end()
        #expect(follow.lines.filter { $0.contains("disable") }.count == 1, "each row once")
        #expect(daemon.stop() == 0)
    }

    /// An answered verb is in the tables and in the audit, whenever the daemon is killed.
    @Test(.timeLimit(.minutes(10)))
    func `A killed daemon has no change without its row, and no row without its change`() throws {
        let path = try manifest(#"{"audit": {"submissions": true}}"#)
        var answered: [String] = []
        for round in 0..<12 {
            let daemon = try TestDaemon(manifest: path, folder: folder)
            let stored = try #require(
                try JSONReader.parse(
                    daemon.command(["pending", "--json", "--limit", "10000"]).output
                )["requests"]?.array
            ).compactMap { $0["id"]?.string }
            let noted = try rows(daemon, ["--verb", "submit"]).compactMap { $0["refs"]?.string }
            let later = stored.filter { id in !noted.contains(id) }
            // The task with a schedule submits itself, which is no verb.
            #expect(later.count == 1, "round \(round): \(later) without a row")
            #expect(Set(noted).isSubset(of: stored), "round \(round): a row without its request")
            #expect(Set(answered).isSubset(of: noted), "round \(round): an answered one is lost")
            #expect(try daemon.command(["audit", "verify"]).exitCode == 0)
            let clients = try (0..<4).map { client in
                try RunningProgram(command: [
                    "sh", "-c",
                    """
                    n=0
                    while n=$((n+1)); do
                      \(Artifact.path("bghost")) submit later.\(round).\(client).$n --earliest +1h \
                        --json --state-dir \(daemon.state) >&2 || exit 0
                    done
                    """,
                ])
            }
            // Some are answered, and others are under way when it is killed.
            try #require(clients[round % 4].has(1 + round % 3, linesContaining: "bghost.request/1"))
            daemon.program.signal(SIGKILL)
            _ = daemon.program.end()
            for client in clients {
                // Reads what is left of its output.
                _ = client.line(containing: "no such line")
                _ = client.end()
                answered += client.lines.compactMap { line in
                    (try? JSONReader.parse(line))?["request"]?["id"]?.string
                }
            }
        }
        #expect(answered.count >= 12)
    }
}
