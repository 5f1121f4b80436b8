// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// Real daemons with one real PostgreSQL.
@Suite(.ownThreads) struct FleetProgramTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// A daemon of a fleet, with a folder of its own.
    private struct Member {
        let name: String
        let daemon: TestDaemon
        /// Exists as long as the daemon.
        let folder: TemporaryDirectory

        func line(_ text: String, within seconds: Int32 = 60) -> String? {
            daemon.program.line(containing: text, within: seconds)
        }
    }

    private func manifest(_ name: String, _ connection: String, calendar: String) throws -> String {
        """
        {"version": 1,
         "host": {"fleet": {"connection": "\(connection)", "name": "\(name)", "lease": "5s"},
                  "alerts": {"to": [{"command": ["/bin/cat"]}]}},
         "plugins": {"misbehave": {"library": "\(try Fixture.library("misbehave"))"}},
         "tasks": {
           "quick": {"plugin": "misbehave", "handler": "succeed", "runs": "onceInFleet",
                     "calendar": "* * * * * *", "limits": {"grace": "1s"}},
           "slow": {"plugin": "misbehave", "handler": "honour-cancel", "runs": "onceInFleet",
                    "calendar": "\(calendar)", "limits": {"runtime": "10m", "grace": "1s"}}}}
        """
    }

    private func member(
        _ name: String,
        _ connection: String,
        calendar: String = "*/5 * * * * *"
    ) throws -> Member {
        let own = try TemporaryDirectory(in: folder.path)
        let path = try own.write(
            try manifest(name, connection, calendar: calendar),
            to: "tasks.json"
        )
        let daemon = try TestDaemon(
            manifest: path,
            folder: own,
            arguments: ["--log-format", "json", "--log-level", "debug"]
        )
        return Member(name: name, daemon: daemon, folder: own)
    }

    /// The number of runs of a task that a daemon has started, as far as its log says by now.
    private func starts(of task: String, on member: Member) -> Int {
        // Reads what there is, and waits for nothing.
        _ = member.line("no line has this text", within: 0)
        return member.daemon.program.lines.count {
            $0.contains("\"run.started\"") && $0.contains("\"task\":\"\(task)\"")
        }
    }

    /// Waits until one of the daemons has started more runs of a task than before.
    private func starter(
        of task: String,
        _ members: [Member],
        before: [Int] = [0, 0, 0]
    ) throws -> Member {
        for _ in 0..<1000 {
            for (member, count) in zip(members, before)
            where starts(of: task, on: member) > count { return member }
            // Each daemon logs each second what becomes of the start.
            let program = members[0].daemon.program
            guard program.has(program.lines.count + 1, linesContaining: "schema") else { break }
        }
        throw DaemonFailure(lines: members.flatMap(\.daemon.program.lines))
    }

    /// The number of runs of a task that succeeded on a host.
    private func runs(of task: String, on member: Member) throws -> Int {
        let answer = try member.daemon.command(["runs", task, "--json", "--limit", "1000"])
        let runs = try JSONReader.parse(answer.output)["runs"]?.array ?? []
        return runs.count { $0["outcome"]?.string == "succeeded" }
    }

    /// The value of a metric without labels; `nil` if there is none.
    private func metric(_ name: String, of member: Member) throws -> String? {
        let text = try member.daemon.command(["metrics"]).output
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return line?.split(separator: " ").last.map(String.init)
    }

    @Test(.timeLimit(.minutes(10)))
    func `Each start is served once also when a host dies and the server goes away`() throws {
        let server = try PostgreSQLServer()
        let connection = try server.database("fleet")
        var members = try ["web-1", "web-2", "web-3"].map { try member($0, connection) }
        for member in members { #expect(member.line("fleet.joined") != nil) }
        let shown = try members[0].daemon.command(["status", "--fleet"])
        #expect(shown.exitCode == 0, "\(shown)")
        for name in ["web-1", "web-2", "web-3"] { #expect(shown.output.contains(name)) }

        // The host of a long run dies, and another one serves the same start.
        let first = try starter(of: "slow", members)
        // The others may serve later starts meanwhile.
        let slot = try #require(
            try server.query(
                "SELECT min(slot) FROM bghost.start WHERE task = 'slow' AND host = '\(first.name)'",
                in: "fleet"
            ).first
        )
        first.daemon.program.signal(SIGKILL)
        #expect(first.daemon.program.end() == -SIGKILL)
        members.removeAll { $0.name == first.name }
        var served = first.name
        for _ in 0..<10_000 where served == first.name {
            served = try #require(
                try server.query(
                    "SELECT host FROM bghost.start WHERE task = 'slow' AND slot = \(slot)",
                    in: "fleet"
                ).first
            )
        }
        #expect(members.map(\.name).contains(served), "\(served)")

        // Without its server, the run of the owner is stopped, and none begins.
        try server.stop()
        for member in members { #expect(member.line("fleet.lost") != nil) }
        #expect(try metric("bghost_fleet_lease_held", of: members[0]) == "0")
        let lost = try members[0].daemon.command(["status", "--fleet"])
        #expect(lost.exitCode == 5 && lost.output.contains("no valid lease"), "\(lost)")
        let why = try members[0].daemon.command(["why", "quick"])
        #expect(why.output.contains("no valid lease in the fleet"), "\(why)")
        let before = members.map { starts(of: "quick", on: $0) }
        try server.start()
        for member in members {
            #expect(member.daemon.program.has(2, linesContaining: "fleet.joined"))
        }
        #expect(try metric("bghost_fleet_lease_held", of: members[0]) == "1")
        #expect(try metric("bghost_fleet_renewals_failed_total", of: members[0]) != "0")
        let healed = try members[0].daemon.command(["alerts"])
        #expect(!healed.output.contains("fleet"), "\(healed)")
        _ = try starter(of: "quick", members, before: before)

        let skips = try members[0].daemon.command(["runs", "quick", "--skipped"])
        #expect(skips.output.contains("served it (`runs: onceInFleet`)"), "\(skips)")
        // Each claim of a host is one run of it; one row is one start.
        for member in members {
            #expect(try member.daemon.command(["pause", "--all"]).exitCode == 0)
            let count = try runs(of: "quick", on: member)
            #expect(member.daemon.stop() == 0)
            let rows = try server.query(
                """
                SELECT count(*) FROM bghost.start
                WHERE task = 'quick' AND host = '\(member.name)' AND ended_at IS NOT NULL
                """,
                in: "fleet"
            )
            #expect(rows == ["\(count)"])
        }
        let leases = try server.query(
            "SELECT count(*) FROM bghost.host WHERE lease_until > clock_timestamp()",
            in: "fleet"
        )
        #expect(leases == ["0"])
    }

    @Test(.timeLimit(.minutes(10)))
    func `A daemon whose fleet does not answer begins nothing and says why`() throws {
        let never = "0 0 1 1 *"
        let away = try member("web-1", "host=\(folder.path) dbname=x", calendar: never)
        let line = try #require(away.line("fleet.lost"))
        #expect(line.contains("no server"), "\(line)")
        let status = try away.daemon.command(["status", "--fleet", "--json"])
        #expect(status.exitCode == 5, "\(status)")
        let json = try JSONReader.parse(status.output)
        #expect(json["name"]?.string == "web-1" && json["hosts"]?.array?.isEmpty == true)
        #expect(json["problem"]?.string?.contains("no server") == true)
        #expect(try runs(of: "quick", on: away) == 0)

        // Those who do not ask for the fleet see it, too.
        let plain = try away.daemon.command(["status"])
        #expect(plain.exitCode == 5 && plain.output.contains("no valid lease"), "\(plain)")
        let health = try away.daemon.command(["health", "--json"])
        let checks = try #require(try JSONReader.parse(health.output)["checks"]?.array)
        let check = try #require(checks.first { $0["name"]?.string == "fleet" })
        #expect(check["state"]?.string == "warning" && check["since"]?.string != nil, "\(check)")
        #expect(try metric("bghost_fleet_lease_held", of: away) == "0")
        #expect(try metric("bghost_fleet_renewed_timestamp_seconds", of: away) == nil)
        let alerts = try away.daemon.command(["alerts"])
        #expect(alerts.output.contains("fleet"), "\(alerts)")
        // Its own tasks go on, so it is ready.
        #expect(try away.daemon.command(["wait", "ready"]).exitCode == 0)
        #expect(away.daemon.stop() == 0)
    }
}
