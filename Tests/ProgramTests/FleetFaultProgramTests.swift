// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import Testing

/// Real daemons and faults of their real PostgreSQL, with a judge that looks for starts that were served twice.
@Suite(.ownThreads) struct FleetFaultProgramTests {
    private let site: FleetSite
    private var server: PostgreSQLServer { site.server }

    init() throws { site = try FleetSite() }

    private func members(_ names: [String]) throws -> [FleetDaemon] {
        let members = try names.map { try site.daemon($0) }
        for member in members { #expect(member.line("fleet.joined") != nil) }
        return members
    }

    /// Waits until each daemon has logged so many more lines about `quick`.
    private func pass(_ lines: Int, _ members: [FleetDaemon]) {
        // All at first: while one is waited for, the others go on.
        let before = members.map { $0.count("\"quick\"") }
        for (member, count) in zip(members, before) {
            #expect(member.daemon.program.has(count + lines, linesContaining: "\"quick\""))
        }
    }

    /// Waits until the judge finds more starts than so many that were served.
    private func serve(
        moreThan count: Int,
        _ judge: FleetJudge,
        _ members: [FleetDaemon]
    ) throws -> (served: Int, doubled: [String]) {
        var verdict = try judge.verdict(on: "quick", members)
        for _ in 0..<100 where verdict.served <= count {
            pass(4, members)
            verdict = try judge.verdict(on: "quick", members)
        }
        return verdict
    }

    @Test(.timeLimit(.minutes(10)))
    func `Hosts whose server hangs stop their runs at half of the lease, say so and come back`()
        throws
    {
        let members = try members(["web-1", "web-2"])
        let judge = try FleetJudge(server, "fleet")
        let owner = try FleetDaemon.starter(of: "slow", members)
        pass(4, members)

        try server.hold(startsOf: "quick", in: "fleet")
        server.signal(SIGSTOP)
        for member in members {
            #expect(try member.hasNoLease())
            let line = try #require(member.line("fleet.lost"))
            // Half of the lease may pass before the first call has ended.
            #expect(line.contains("has not answered"), "\(line)")
            let status = try member.daemon.command(["status"])
            #expect(status.exitCode == 5, "\(status)")
            let metrics = try member.daemon.command(["metrics"])
            #expect(metrics.output.contains("\nbghost_fleet_lease_held 0\n"), "\(metrics)")
        }
        // The run has ended before another host may take its start over.
        #expect(owner.hasEnded("slow"))
        let joins = members.map { $0.count("fleet.joined") }
        server.signal(SIGCONT)
        for (member, count) in zip(members, joins) {
            #expect(try member.hasJoined(before: count))
        }
        try server.release(startsOf: "quick", in: "fleet")
        let before = try judge.verdict(on: "quick", members).served
        let verdict = try serve(moreThan: before, judge, members)
        #expect(verdict.served > before)
        #expect(verdict.doubled.isEmpty)
        for member in members { #expect(member.daemon.stop() == 0) }
    }

    @Test(.timeLimit(.minutes(10)))
    func `With the fence taken out the judge finds starts that were served twice`() throws {
        let members = try members(["web-1", "web-2"])
        let judge = try FleetJudge(server, "fleet")
        let fenced = try serve(moreThan: 3, judge, members)
        #expect(fenced.served > 3)
        #expect(fenced.doubled.isEmpty)
        try server.takeOutFence(in: "fleet")
        var verdict = fenced
        for _ in 0..<100 where verdict.doubled.isEmpty {
            pass(4, members)
            verdict = try judge.verdict(on: "quick", members)
        }
        #expect(!verdict.doubled.isEmpty)
        for member in members { #expect(member.daemon.stop() == 0) }
    }
}
