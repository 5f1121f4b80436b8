// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// Real daemons whose requests live in one real PostgreSQL.
@Suite(.ownThreads) struct FleetRequestProgramTests {
    private static let tasks = """
        {"job.*": {"plugin": "misbehave", "handler": "succeed", "runs": "inFleet"},
         "hold.*": {"plugin": "misbehave", "handler": "honour-cancel", "runs": "inFleet",
                    "overlap": "queue", "limits": {"runtime": "10m", "grace": "1s"}}}
        """

    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// Submits a request on a daemon, and returns its id: the fleet has it.
    private func submit(_ task: String, on member: FleetDaemon) throws -> String {
        let answer = try member.daemon.command(["submit", task, "--json"])
        #expect(answer.exitCode == 0, "\(answer)")
        return try #require(
            try JSONReader.parse(answer.output)["request"]?["id"]?.string,
            "\(answer)"
        )
    }

    /// Asks the database until the answer is as wanted; each question starts a program.
    @discardableResult
    private func answer(
        to sql: String,
        _ server: PostgreSQLServer,
        is isWanted: ([String]) -> Bool
    ) throws -> [String] {
        var rows: [String] = []
        for _ in 0..<5000 {
            rows = try server.query(sql, in: "fleet")
            if isWanted(rows) { return rows }
        }
        Issue.record("\(sql) answers \(rows)")
        return rows
    }

    @Test(.timeLimit(.minutes(10)))
    func `Each request ends once and those of a killed host are repeated`() throws {
        let server = try PostgreSQLServer()
        let connection = try server.database("fleet")
        var members = try ["web-1", "web-2", "web-3"].map {
            try FleetDaemon($0, connection, in: folder, tasks: Self.tasks)
        }
        for member in members { #expect(member.line("partitions.leased") != nil) }
        let owners = """
            SELECT h.name FROM bghost_partitions.partition p
            JOIN bghost_partitions.host h ON h.host = p.owner GROUP BY h.name
            """
        try answer(to: owners, server) { $0.count == 3 }

        // Runs that last, so that the host of one can be killed in the middle.
        let held = try (0..<6).map { try submit("hold.\($0)", on: members[$0 % 3]) }
        var jobs = Set(try (0..<30).map { try submit("job.\($0)", on: members[$0 % 3]) })
        let running = """
            SELECT h.name, r.id FROM bghost_partitions.request r
            JOIN bghost_partitions.partition p ON p.pool = r.pool AND p.number = r.number
            JOIN bghost_partitions.host h ON h.host = p.owner
            WHERE r.state = 1 AND r.task LIKE 'hold.%' ORDER BY r.id
            """
        let leased = try answer(to: running, server) { !$0.isEmpty }
        let first = try #require(leased.first).split(separator: "|").map(String.init)
        #expect(held.contains(first[1]))
        let victim = try #require(members.first { $0.name == first[0] })
        victim.daemon.program.signal(SIGKILL)
        #expect(victim.daemon.program.end() == -SIGKILL)
        members.removeAll { $0.name == victim.name }

        // Submissions for its partitions wait for the next owner.
        for number in 30..<60 {
            jobs.insert(try submit("job.\(number)", on: members[number % 2]))
        }
        let repeated = try answer(to: running, server) { rows in
            rows.contains { $0.hasSuffix(first[1]) && !$0.hasPrefix(victim.name) }
        }
        let owner = try #require(
            members.first { member in
                repeated.contains { $0 == "\(member.name)|\(first[1])" }
            }
        )
        #expect(owner.line("its host was lost while it was under way") != nil)

        // Each job has succeeded once; another run of one is one that its host has lost.
        let ended = """
            SELECT request FROM bghost_partitions.run
            WHERE task LIKE 'job.%' AND body LIKE '%succeeded%'
            """
        let succeeded = try answer(to: ended, server) { $0.count >= jobs.count }
        #expect(succeeded.count == jobs.count && Set(succeeded) == jobs)
        let left = "SELECT task FROM bghost_partitions.request WHERE task LIKE 'job.%'"
        #expect(try server.query(left, in: "fleet").isEmpty)
        #expect(try server.query("SELECT id FROM bghost_partitions.inbox", in: "fleet").isEmpty)

        // Where a request is, says each host.
        let other = try #require(members.first { $0.name != owner.name })
        let task = try #require(held.firstIndex(of: first[1]).map { "hold.\($0)" })
        var why = ""
        // It looks for the owners each second; each question starts a program.
        for _ in 0..<5000 where !why.contains("host `\(owner.name)` owns") {
            why = try other.daemon.command(["why", task]).output
        }
        #expect(why.contains("host `\(owner.name)` owns"), "\(why)")

        // A host that stops in order gives its requests to the others at once.
        #expect(owner.daemon.stop() == 0)
        try answer(to: running, server) { rows in
            !rows.isEmpty && rows.allSatisfy { $0.hasPrefix("\(other.name)|") }
        }
        #expect(other.daemon.stop() == 0)
        #expect(try server.query(owners, in: "fleet").isEmpty)
        let waiting = try server.query(
            "SELECT count(*) FROM bghost_partitions.request WHERE state = 0",
            in: "fleet"
        )
        #expect(waiting == ["\(held.count)"])
    }
}
