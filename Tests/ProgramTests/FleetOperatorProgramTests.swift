// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// The commands of `bghost fleet`, with real daemons and a real PostgreSQL.
@Suite(.ownThreads) struct FleetOperatorProgramTests {
    private let site: FleetSite
    private var server: PostgreSQLServer { site.server }

    init() throws { site = try FleetSite() }

    /// The findings of the doctor of a kind.
    private func findings(_ kind: String, _ member: FleetDaemon) throws -> [JSONNode] {
        let answer = try member.daemon.command(["fleet", "doctor", "--json"])
        let all = try JSONReader.parse(answer.output)["findings"]?.array ?? []
        return all.filter { $0["kind"]?.string == kind }
    }

    /// Asks until the doctor has a finding of a kind about a host; "" is the fleet.
    ///
    /// On a busy machine there may be others for a while.
    private func finding(_ kind: String, about host: String, _ member: FleetDaemon) throws
        -> JSONNode
    {
        for _ in 0..<1000 {
            let found = try findings(kind, member).first { $0["host"]?.string == host }
            if let found { return found }
        }
        throw DaemonFailure(lines: member.daemon.program.lines)
    }

    /// Stops the runs of `slow` of a drained host until it has no start, as another host sees it.
    ///
    /// On a busy machine it may have lost its lease, and repeat its run.
    private func endStarts(of host: FleetDaemon, seenBy other: FleetDaemon) throws {
        for _ in 0..<1000 {
            let runs = try host.daemon.command(["runs", "slow", "--json"]).output
            for run in try JSONReader.parse(runs)["runs"]?.array ?? []
            where run["state"]?.string != "ended" {
                _ = try host.daemon.command(["stop", run["id"]?.string ?? ""])
            }
            let answer = try other.daemon.command(["fleet", "hosts", "--json"]).output
            let hosts = try JSONReader.parse(answer)["hosts"]?.array ?? []
            let state = hosts.first { $0["name"]?.string == host.name }?["state"]?.string
            if state == "drained" { return }
        }
        throw DaemonFailure(lines: host.daemon.program.lines)
    }

    /// The number of starts that a host has claimed; one that stays in the database also when it has ended.
    private func claimed(_ host: String) throws -> Int {
        let rows = try server.query(
            "SELECT count(*) FROM bghost.start WHERE host = '\(host)'",
            in: "fleet"
        )
        return try #require(Int(rows[0]))
    }

    @Test(.timeLimit(.minutes(10)))
    func `A drained host ends its run, claims nothing more and is undrained from another host`()
        throws
    {
        let members = try ["web-1", "web-2"].map { try site.daemon($0) }
        for member in members { #expect(member.line("fleet.joined") != nil) }
        let busy = try FleetDaemon.starter(of: "slow", members)
        let other = try #require(members.first { $0.name != busy.name })

        // The command runs on the other host.
        let drained = try other.answer(["fleet", "drain", busy.name]) { $0.exitCode == 0 }
        #expect(drained.output.contains(busy.name), "\(drained)")
        #expect(busy.line("fleet.drained") != nil)
        let misspelt = try other.answer(["fleet", "drain", "web-x"]) { $0.error.contains("BG4054") }
        #expect(misspelt.exitCode == 4 && misspelt.error.contains("`web-1`"), "\(misspelt)")
        let finding = try finding("drained", about: busy.name, other)
        #expect(finding["isProblem"]?.bool == false, "\(finding.text)")
        let check = try busy.answer(["health", "--json"]) { $0.output.contains("is drained") }
        #expect(check.output.contains("is drained"), "\(check)")

        // It still had its run of `slow`, which lasts until it is stopped.
        try endStarts(of: busy, seenBy: other)
        let end = try other.answer(["fleet", "drain", busy.name, "--wait"]) { $0.exitCode == 0 }
        #expect(end.output.hasPrefix("\(busy.name) was drained already"), "\(end)")

        // From here on it claims nothing, while the other one serves start after start.
        let count = try claimed(busy.name)
        for _ in 0..<3 {
            let before = [other.starts(of: "quick")]
            _ = try FleetDaemon.starter(of: "quick", [other], before: before)
        }
        #expect(try claimed(busy.name) == count)

        // A restart does not undrain it.
        #expect(busy.daemon.stop() == 0)
        let left = try other.answer(["fleet", "hosts"]) { $0.output.contains("left") }
        #expect(left.output.contains("left"), "\(left)")
        let again = try site.daemon(busy.name)
        #expect(again.line("fleet.drained") != nil)
        let undrained = try other.answer(["fleet", "undrain", busy.name]) { $0.exitCode == 0 }
        #expect(undrained.output.contains("claims starts"), "\(undrained)")
        #expect(again.line("fleet.undrained") != nil)
        let audit = try other.daemon.command(["audit", "show", "--verb", "fleet drain", "--json"])
        #expect(audit.output.contains(busy.name) && audit.output.contains("web-x"), "\(audit)")
        #expect(other.daemon.stop() == 0)
        // Now it is the only one, so it serves the starts.
        #expect(again.hasEnded("quick"))
        #expect(again.daemon.stop() == 0)
    }

    @Test(.timeLimit(.minutes(10)))
    func `The doctor finds a host that died, other tasks and a server that is away`()
        throws
    {
        let one = try site.daemon("web-1")
        let two = try site.daemon("web-2", calendar: "0 0 1 1 *")
        for member in [one, two] { #expect(member.line("fleet.joined") != nil) }
        let tasks = try finding("tasks", about: "", one)
        #expect(tasks["isProblem"]?.bool == true)
        #expect(tasks["message"]?.string?.contains("web-2") == true, "\(tasks.text)")
        let sick = try one.answer(["fleet", "doctor"]) { $0.output.contains("calendars") }
        #expect(sick.exitCode == 5 && sick.output.contains("calendars"), "\(sick)")

        two.daemon.program.signal(SIGKILL)
        #expect(two.daemon.program.end() == -SIGKILL)
        let gone = try finding("gone", about: "web-2", one)
        #expect(gone["isProblem"]?.bool == true, "\(gone.text)")
        // What a dead host had does not count.
        #expect(try findings("tasks", one).isEmpty)
        let hosts = try one.answer(["fleet", "hosts"]) { $0.output.contains("gone") }
        #expect(hosts.output.contains("web-2") && hosts.output.contains("gone"), "\(hosts)")
        // The operator says that it is gone for good.
        let drained = try one.answer(["fleet", "drain", "web-2", "--wait"]) { $0.exitCode == 0 }
        #expect(drained.output.contains("web-2"), "\(drained)")

        try server.stop()
        #expect(try one.hasNoLease())
        let store = try finding("store", about: "", one)
        #expect(store["message"]?.string?.contains("web-1") == true, "\(store.text)")
        #expect(try one.daemon.command(["fleet", "hosts"]).exitCode == 5)
        let refused = try one.daemon.command(["fleet", "drain", "web-2"])
        #expect(refused.exitCode != 0 && refused.error.contains("BG4055"), "\(refused)")
        try server.start()
        let healed = try one.answer(["fleet", "doctor"]) { $0.exitCode == 0 }
        #expect(healed.exitCode == 0 && healed.output.contains("no problem"), "\(healed)")
        #expect(one.daemon.stop() == 0)
    }
}
