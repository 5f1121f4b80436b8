// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// Real daemons with one real PostgreSQL.
@Suite(.ownThreads) struct FleetProgramTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// The value of a metric without labels; `nil` if there is none.
    private func metric(_ name: String, of member: FleetDaemon) throws -> String? {
        let text = try member.daemon.command(["metrics"]).output
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return line?.split(separator: " ").last.map(String.init)
    }

    /// Kills a host that has begun a start of `slow` and has not ended it.
    private func kill(
        oneOf members: [FleetDaemon],
        _ server: PostgreSQLServer
    ) throws -> (host: FleetDaemon, slot: String) {
        let open = "SELECT host, slot FROM bghost.start WHERE task = 'slow' AND ended_at IS NULL"
        for _ in 0..<1000 {
            for member in members {
                // A host that stands still ends nothing. On a busy machine it may have lost its lease,
                // and so have stopped its run, just before.
                member.daemon.program.signal(SIGSTOP)
                let slots = try server.query(
                    "SELECT max(slot) FROM (\(open)) AS open WHERE host = '\(member.name)'",
                    in: "fleet"
                )
                if let slot = slots.first, !slot.isEmpty {
                    member.daemon.program.signal(SIGKILL)
                    #expect(member.daemon.program.end() == -SIGKILL)
                    return (member, slot)
                }
                member.daemon.program.signal(SIGCONT)
            }
        }
        throw DaemonFailure(lines: members.flatMap(\.daemon.program.lines))
    }

    @Test(.timeLimit(.minutes(10)))
    func `Each start is served once also when a host dies and the server goes away`() throws {
        let server = try PostgreSQLServer()
        let connection = try server.database("fleet")
        var members = try ["web-1", "web-2", "web-3"].map {
            try FleetDaemon($0, connection, in: folder)
        }
        for member in members { #expect(member.line("fleet.joined") != nil) }
        let shown = try members[0].daemon.command(["status", "--fleet"])
        #expect(shown.exitCode == 0, "\(shown)")
        for name in ["web-1", "web-2", "web-3"] { #expect(shown.output.contains(name)) }

        // The host of a long run dies, and another one serves the same start.
        _ = try FleetDaemon.starter(of: "slow", members)
        let (first, slot) = try kill(oneOf: members, server)
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
        let before = members.map { $0.starts(of: "quick") }
        try server.start()
        for member in members {
            #expect(member.daemon.program.has(2, linesContaining: "fleet.joined"))
        }
        #expect(try metric("bghost_fleet_lease_held", of: members[0]) == "1")
        #expect(try metric("bghost_fleet_renewals_failed_total", of: members[0]) != "0")
        let healed = try members[0].daemon.command(["alerts"])
        #expect(!healed.output.contains("fleet"), "\(healed)")
        _ = try FleetDaemon.starter(of: "quick", members, before: before)

        let skips = try members[0].daemon.command(["runs", "quick", "--skipped"])
        #expect(skips.output.contains("served it (`runs: onceInFleet`)"), "\(skips)")
        // Each claim of a host is one run of it; one row is one start.
        for member in members {
            #expect(try member.daemon.command(["pause", "--all"]).exitCode == 0)
            let count = try member.runs(of: "quick").count
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
        let away = try FleetDaemon(
            "web-1",
            "host=\(folder.path) dbname=x",
            in: folder,
            calendar: never
        )
        let line = try #require(away.line("fleet.lost"))
        #expect(line.contains("no server"), "\(line)")
        let status = try away.daemon.command(["status", "--fleet", "--json"])
        #expect(status.exitCode == 5, "\(status)")
        let json = try JSONReader.parse(status.output)
        #expect(json["name"]?.string == "web-1" && json["hosts"]?.array?.isEmpty == true)
        #expect(json["problem"]?.string?.contains("no server") == true)
        #expect(try away.runs(of: "quick").isEmpty)

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
