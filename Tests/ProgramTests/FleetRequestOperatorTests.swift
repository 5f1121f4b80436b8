// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// What operators of real daemons are told of requests that live in a real PostgreSQL, and what they cancel.
@Suite(.ownThreads) struct FleetRequestOperatorTests {
    private static let tasks = """
        {"hold.*": {"plugin": "misbehave", "handler": "honour-cancel", "runs": "inFleet",
                    "overlap": "queue", "limits": {"runtime": "10m", "grace": "1s"}},
         "doomed.*": {"plugin": "misbehave", "handler": "fail", "runs": "inFleet",
                      "retry": {"policy": "exponential", "base": "1ms", "max": 1}}}
        """

    private let site: FleetSite
    private var server: PostgreSQLServer { site.server }

    init() throws { site = try FleetSite() }

    private func members(_ names: [String]) throws -> [FleetDaemon] {
        let members = try names.map {
            try site.daemon($0, tasks: Self.tasks)
        }
        for member in members { #expect(member.line("partitions.leased") != nil) }
        return members
    }

    /// Waits until an answer has a text.
    @discardableResult
    private func expect(
        _ member: FleetDaemon,
        _ arguments: [String],
        has text: String
    ) throws -> Command.Result {
        let answer = try member.answer(arguments) { $0.output.contains(text) }
        #expect(answer.output.contains(text), "\(arguments): \(answer)")
        return answer
    }

    private func metric(_ name: String, _ member: FleetDaemon) throws -> String? {
        try member.daemon.command(["metrics"]).output.split(separator: "\n")
            .first { $0.hasPrefix("bghost_fleet_partitions_\(name) ") }
            .map { String($0.drop { $0 != " " }.dropFirst()) }
    }

    /// What the operator sees while requests of the fleet start on a host.
    private func expectSound(_ member: FleetDaemon) throws {
        try expect(member, ["metrics"], has: "\nbghost_fleet_partitions_lease_held 1\n")
        let status = try member.answer(["status"]) { $0.exitCode == 0 }
        #expect(status.exitCode == 0, "\(status)")
        try expect(member, ["health"], has: "✓ partitions: `\(member.name)` owns")
        try expect(member, ["fleet", "doctor"], has: "no problem")
        let alerts = try member.answer(["alerts"]) { !$0.output.contains("partitions") }
        #expect(!alerts.output.contains("partitions"), "\(alerts)")
    }

    @Test(.timeLimit(.minutes(10)))
    func `A lost lease of partitions is told everywhere, and also that it is over`() throws {
        let member = try members(["web-1"])[0]
        try expectSound(member)
        #expect(try metric("ownerless", member) == "0" && metric("owned", member) == "256")

        try server.stop()
        #expect(member.line("partitions.lost") != nil)
        let sentence = "no request of the fleet starts on this host"
        let status = try expect(member, ["status"], has: sentence)
        #expect(status.exitCode == 5, "\(status)")
        let problems =
            try JSONReader.parse(
                try member.daemon.command(["status", "--json"]).output
            )["problems"]?.array ?? []
        #expect(problems.contains { $0["kind"]?.string == "partitions" }, "\(problems)")
        try expect(member, ["health"], has: "! partitions: \(sentence)")
        // The other tasks of the host run.
        let ready = try member.daemon.command(["wait", "ready"])
        #expect(ready.exitCode == 0, "\(ready)")
        #expect(try metric("lease_held", member) == "0")
        #expect(try metric("ownerless", member) == nil, "it is not known")
        #expect(try metric("calls_failed_total", member) != "0")
        #expect(try metric("lease_losses_total", member) != "0")
        try expect(member, ["alerts"], has: sentence)
        let hosts = try member.daemon.command(["status", "--fleet"])
        #expect(hosts.exitCode == 5 && hosts.output.contains(sentence), "\(hosts)")
        let doctor = try member.daemon.command(["fleet", "doctor", "--json"])
        let findings = try JSONReader.parse(doctor.output)["findings"]?.array ?? []
        #expect(findings.contains { $0["kind"]?.string == "partitions" }, "\(doctor)")
        #expect(try member.daemon.command(["doctor"]).output.contains("lease"))
        let refused = try member.daemon.command(["pending", "--fleet"])
        #expect(refused.exitCode == 75 && refused.error.contains("BG4055"), "\(refused)")

        try server.start()
        try expectSound(member)

        // The store declares the host dead, as another host does when its lease has ended.
        let losses = try metric("lease_losses_total", member)
        try server.query(
            """
            UPDATE bghost_partitions.host SET is_live = false;
            UPDATE bghost_partitions.partition SET owner = NULL
            """,
            in: "fleet"
        )
        #expect(member.line("partitions.fenced") != nil)
        try expectSound(member)
        #expect(try metric("lease_losses_total", member) != losses)
        #expect(member.daemon.stop() == 0)
    }

    /// Submits a request on a daemon, and returns its id: the fleet has it.
    private func submit(_ task: String, _ member: FleetDaemon) throws -> String {
        let answer = try member.daemon.command(["submit", task, "--json"])
        #expect(answer.exitCode == 0, "\(answer)")
        let id = try JSONReader.parse(answer.output)["request"]?["id"]?.string
        return try #require(id, "\(answer)")
    }

    /// The rows of a list, once they are as wanted.
    private func rows(
        _ arguments: [String],
        _ member: FleetDaemon,
        _ isWanted: ([JSONNode]) -> Bool
    ) throws -> [JSONNode] {
        var rows: [JSONNode] = []
        let answer = try member.answer(arguments + ["--fleet", "--json"]) { answer in
            // An answer that is no list is shown below.
            rows = (try? JSONReader.parse(answer.output)["requests"]?.array) ?? []
            return isWanted(rows)
        }
        #expect(isWanted(rows), "\(answer)")
        return rows
    }

    private func states(_ rows: [JSONNode]) -> [String: String] {
        rows.reduce(into: [:]) {
            $0[$1["request"]?["id"]?.string ?? ""] = $1["state"]?.string
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `Each host lists the requests of all, and cancels those of the others`() throws {
        let members = try members(["web-1", "web-2"])
        // Then no partition changes hosts any more.
        let shares = """
            SELECT count(*) FROM bghost_partitions.partition WHERE owner IS NOT NULL GROUP BY owner
            """
        for _ in 0..<5000 {
            if try server.query(shares, in: "fleet") == ["128", "128"] { break }
        }
        let dead = try submit("doomed.1", members[0])
        let letters = try rows(["dead"], members[1]) { $0.count == 1 }
        #expect(states(letters) == [dead: "dead"] && letters[0]["reason"]?.string != "")
        let refused = try members[1].daemon.command(["cancel", "--fleet", dead])
        #expect(refused.exitCode == 4 && refused.error.contains("dead letter"), "\(refused)")
        let shown = try members[1].daemon.command(["dead", "--fleet"])
        #expect(shown.output.contains("doomed.1"), "\(shown)")

        // More than both hosts have slots for.
        let ids = try (0..<24).map { try submit("hold.\($0)", members[$0 % 2]) }
        let all = try rows(["pending"], members[0]) { rows in
            rows.count == ids.count && rows.allSatisfy { $0["state"]?.string != "submitted" }
                && rows.count { $0["state"]?.string == "running" } > 8
        }
        #expect(Set(states(all).keys) == Set(ids))
        #expect(Set(all.compactMap { $0["owner"]?.string }) == ["web-1", "web-2"])

        // In parts, each request is there once.
        var (found, cursor): ([String], String?) = ([], nil)
        repeat {
            let answer = try members[1].daemon.command(
                ["pending", "--fleet", "--json", "--limit", "5"]
                    + (cursor.map { ["--cursor", $0] } ?? [])
            )
            let page = try JSONReader.parse(answer.output)
            found += Array(states(page["requests"]?.array ?? []).keys)
            cursor = page["next"]?.string
        } while cursor != nil && found.count < 100
        #expect(found.sorted() == ids.sorted())
        let one = try rows(["pending", "hold.7"], members[0]) { $0.count == 1 }
        #expect(states(one).keys.first == ids[7])

        // A request that waits and one that runs, each on the host that is not asked.
        for state in ["pending", "running"] {
            let row = try #require(all.first { $0["state"]?.string == state })
            let id = try #require(row["request"]?["id"]?.string)
            let owner = try #require(members.first { $0.name == row["owner"]?.string })
            let other = try #require(members.first { $0.name != owner.name })
            let cancelled = try other.daemon.command(["cancel", "--fleet", id])
            #expect(cancelled.exitCode == 0, "\(cancelled)")
            #expect(cancelled.output.contains(owner.name), "\(cancelled)")
            _ = try rows(["pending"], other) { states($0)[id] == nil }
            let again = try other.daemon.command(["cancel", "--fleet", id])
            #expect(again.exitCode == 4 && again.error.contains("BG4016"), "\(again)")
            let audit = try other.daemon.command(["audit", "show", "--verb", "fleet cancel"])
            #expect(audit.output.contains(id), "\(audit)")
            let event = state == "pending" ? "partitions.cancelled" : "\"run.ended\""
            #expect(owner.line(event) != nil)
        }
        // What runs may have grown since, but nothing else has ended.
        #expect(try rows(["pending"], members[1]) { $0.count == ids.count - 2 }.count == 22)
        for _ in 0..<5000 {
            let left = "SELECT request FROM bghost_partitions.cancel"
            if try server.query(left, in: "fleet").isEmpty { break }
        }
        for member in members { #expect(member.daemon.stop() == 0) }
    }
}
