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

    /// The host that serves a start of `slow` for which another one waits; `nil` if there is none yet.
    ///
    /// A host does not wait for a start from before its own.
    private func ownerOfAwaited(
        _ members: [FleetDaemon],
        _ server: PostgreSQLServer
    ) throws -> FleetDaemon? {
        for member in members {
            let why = try member.daemon.command(["why", "slow"]).output
            let owner = members.first { why.contains("host `\($0.name)` serves this start") }
            if let owner { return owner }
        }
        let owners = try server.query(
            "SELECT host FROM bghost.start WHERE task = 'slow' AND ended_at IS NULL ORDER BY slot",
            in: "fleet"
        )
        guard Set(owners).count == members.count,
            let behind = members.first(where: { $0.name == owners[0] })
        else { return nil }
        // On a busy machine, each began in another period of the calendar. The one that is behind goes on with
        // its next start, until that is one that another host serves.
        let answer = try behind.daemon.command(["runs", "slow", "--json"]).output
        for run in try JSONReader.parse(answer)["runs"]?.array ?? []
        where run["state"]?.string != "ended" {
            _ = try behind.daemon.command(["stop", run["id"]?.string ?? ""])
        }
        return nil
    }

    /// Kills a host that has begun a start of `slow`, for which another one waits, and has not ended it.
    private func kill(
        oneOf members: [FleetDaemon],
        _ server: PostgreSQLServer
    ) throws -> (host: FleetDaemon, slot: String) {
        let open = "SELECT host, slot FROM bghost.start WHERE task = 'slow' AND ended_at IS NULL"
        for _ in 0..<1000 {
            // Only that one: a host that stands still renews no lease.
            guard let member = try ownerOfAwaited(members, server) else { continue }
            // A host that stands still ends nothing. On a busy machine it may have lost its lease, and so
            // have stopped its run, just before.
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
        let shown = try members[0].answer(["status", "--fleet"]) { $0.exitCode == 0 }
        #expect(shown.exitCode == 0, "\(shown)")
        for name in ["web-1", "web-2", "web-3"] { #expect(shown.output.contains(name)) }

        // The host of a long run dies, and another one serves the same start.
        _ = try FleetDaemon.starter(of: "slow", members)
        let (first, slot) = try kill(oneOf: members, server)
        members.removeAll { $0.name == first.name }
        var served = first.name
        for _ in 0..<10_000 where served == first.name {
            let hosts = try server.query(
                "SELECT host FROM bghost.start WHERE task = 'slow' AND slot = \(slot)",
                in: "fleet"
            )
            served = hosts.first ?? served
        }
        #expect(members.map(\.name).contains(served), "\(served)")

        // Without its server, the run of the owner is stopped, and none begins. What a host has served and
        // cannot record would be served again.
        try server.hold(startsOf: "quick", in: "fleet")
        try server.stop()
        for member in members { #expect(try member.hasNoLease()) }
        #expect(try metric("bghost_fleet_lease_held", of: members[0]) == "0")
        let lost = try members[0].daemon.command(["status", "--fleet"])
        #expect(lost.exitCode == 5 && lost.output.contains("no valid lease"), "\(lost)")
        let why = try members[0].daemon.command(["why", "quick"])
        #expect(why.output.contains("no valid lease in the fleet"), "\(why)")
        let before = members.map { $0.starts(of: "quick") }
        let joins = members.map { $0.count("fleet.joined") }

        try server.start()
        // On a busy machine, a host may have lost its lease and joined before, too.
        for (member, count) in zip(members, joins) { #expect(try member.hasJoined(before: count)) }
        try server.release(startsOf: "quick", in: "fleet")
        #expect(try metric("bghost_fleet_renewals_failed_total", of: members[0]) != "0")
        let healed = try members[0].answer(["alerts"]) { !$0.output.contains("fleet") }
        #expect(!healed.output.contains("fleet"), "\(healed)")
        _ = try FleetDaemon.starter(of: "quick", members, before: before)
        let sentence = "served it (`runs: onceInFleet`)"
        let skips = try members[0].answer(["runs", "quick", "--skipped"]) {
            $0.output.contains(sentence)
        }
        #expect(skips.output.contains(sentence), "\(skips)")

        // Each claim of a host is one run of it; one row is one start.
        for member in members {
            #expect(try member.daemon.command(["pause", "--all"]).exitCode == 0)
            let count = try member.endedRuns(of: "quick").count
            // The server gets the end of a run after the history has it.
            let ended = """
                SELECT count(*) FROM bghost.start
                WHERE task = 'quick' AND host = '\(member.name)' AND ended_at IS NOT NULL
                """
            for _ in 0..<1000 where try server.query(ended, in: "fleet") == ["\(count)"] { break }
            #expect(member.daemon.stop() == 0)
            #expect(try server.query(ended, in: "fleet") == ["\(count)"])
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
