// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostFleet
import BghostLinux
import BghostModel
import BghostTestSupport
import Testing

/// Drained hosts, and what is known of hosts, in a real PostgreSQL.
@Suite(.serialized, .ownThreads, .postgreSQL) struct FleetDrainTests {
    private let database: FleetDatabase

    init() throws { database = try FleetDatabase() }

    private func state(_ name: String, _ fleet: PostgreSQLFleet) throws -> FleetHost.State {
        try #require(try fleet.hosts().first { $0.name == name }).state
    }

    @Test(.timeLimit(.minutes(5)))
    func `A drained host gets no start and ends those that it has`() throws {
        let (one, two) = (database.host("web-1"), database.host("web-2"))
        #expect(try !one.renew().isDrained)
        _ = try two.renew()
        #expect(try one.claim(FleetDatabase.claim(100, 1)) == .claimed)
        #expect(try two.setDrained(true, host: "web-1") == true)
        #expect(try one.claim(FleetDatabase.claim(200, 1)) == .drained)
        // What it has stays its own, also when it claims it again, as after a lost answer.
        #expect(try one.claim(FleetDatabase.claim(100, 1)) == .claimed)
        #expect(try state("web-1", two) == .draining)
        #expect(try one.renew().isDrained)
        #expect(try state("web-1", two) == .draining)
        // The other one gets the start, and the drained one hears of it.
        #expect(try two.claim(FleetDatabase.claim(200, 2)) == .claimed)
        #expect(try one.claim(FleetDatabase.claim(200, 1)) == .taken(by: "web-2"))
        try two.release(FleetDatabase.claim(200, 2), .served)
        #expect(try one.claim(FleetDatabase.claim(200, 1)) == .served(by: "web-2"))
        try one.release(FleetDatabase.claim(100, 1), .served)
        #expect(try state("web-1", two) == .drained)
        // A retry of a request that it has served may still begin, any other start not.
        #expect(try one.claim(FleetDatabase.claim(100, 1)) == .claimed)
        #expect(try one.claim(FleetDatabase.claim(300, 1)) == .drained)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A host is drained only once it knows`() throws {
        let (one, two) = (database.host("web-1"), database.host("web-2"))
        _ = try one.renew()
        _ = try two.renew()
        #expect(try two.setDrained(true, host: "web-1") == true)
        let since = try #require(try two.hosts().first).drainedAt
        #expect(since != nil)
        // A claim from before may be under way.
        #expect(try state("web-1", two) == .draining)
        #expect(try two.setDrained(true, host: "web-1") == false)
        #expect(try two.hosts().first?.drainedAt == since)
        #expect(try one.renew().isDrained)
        #expect(try state("web-1", two) == .drained)
        #expect(try two.setDrained(true, host: "web-1") == false)
        #expect(try state("web-1", two) == .drained)
        #expect(try two.setDrained(false, host: "web-1") == true)
        #expect(try two.setDrained(false, host: "web-1") == false)
        #expect(try state("web-1", two) == .live)
        #expect(try one.claim(FleetDatabase.claim(100, 1)) == .claimed)
        #expect(try !one.renew().isDrained)
        // It knew of the drain before that one, and not of this one.
        #expect(try two.setDrained(true, host: "web-1") == true)
        try one.release(FleetDatabase.claim(100, 1), .served)
        #expect(try state("web-1", two) == .draining)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A drain lasts across restarts, and a host may drain itself`() throws {
        let first = database.host("web-1")
        _ = try first.renew()
        #expect(try first.claim(FleetDatabase.claim(100, 1)) == .claimed)
        #expect(try first.setDrained(true, host: "web-1") == true)
        let second = database.host("web-1")
        let renewal = try second.renew()
        #expect(renewal.isDrained && renewal.open == [FleetDatabase.claim(100, 1)])
        #expect(try second.claim(FleetDatabase.claim(100, 1)) == .claimed)
        #expect(try second.claim(FleetDatabase.claim(200, 1)) == .drained)
        try second.release(FleetDatabase.claim(100, 1), .served)
        #expect(try state("web-1", second) == .drained)
        // With the end of its lease, too.
        try database.die("web-1")
        #expect(try state("web-1", second) == .gone)
        #expect(try #require(try second.hosts().first).drainedAt != nil)
        _ = try second.renew()
        #expect(try state("web-1", second) == .drained)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A host that is not there cannot be drained`() throws {
        let one = database.host("web-1")
        _ = try one.renew()
        #expect(try one.setDrained(true, host: "web-2") == nil)
        #expect(try one.setDrained(false, host: "") == nil)
        #expect(try one.setDrained(true, host: "web-1'; DROP SCHEMA bghost CASCADE; --") == nil)
        #expect(try one.hosts().map(\.drainedAt) == [nil])
    }

    @Test(.timeLimit(.minutes(5)))
    func `A host that stopped in order has left, and one that died is gone`() throws {
        let hosts = try (1...3).map { number in
            let host = database.host("web-\(number)")
            _ = try host.renew()
            return host
        }
        #expect(try hosts[1].claim(FleetDatabase.claim(100, 1)) == .claimed)
        hosts[0].leave()
        try database.die("web-2")
        let shown = try hosts[2].hosts()
        #expect(shown.map(\.state) == [.left, .gone, .live], "\(shown)")
        #expect(shown.map(\.claims) == [0, 1, 0])
        #expect(shown.allSatisfy { $0.lease == 600_000_000_000 })
        #expect(shown.map { $0.leaseLeft > 0 } == [false, false, true])
    }

    @Test(.timeLimit(.minutes(5)))
    func `A host says how its clock differs from that of the server`() throws {
        let hour: Int64 = 3_600_000_000_000
        let ahead = database.host("web-1", wall: { WallClock.now + hour })
        let behind = database.host("web-2", wall: { WallClock.now - hour })
        let right = database.host("web-3")
        for host in [ahead, behind, right] {
            _ = try host.renew()
            #expect(try right.hosts().last?.clock == nil)
            // The first answered renewal measures it, and the next one says it.
            _ = try host.renew()
            _ = try host.renew()
        }
        let clocks = try right.hosts().map(\.clock)
        for (clock, offset) in zip(clocks, [hour, -hour, 0]) {
            let clock = try #require(clock)
            // The server runs on this machine. Its clock is asked for at some time of the call.
            let difference = (clock.offset - offset).magnitude
            #expect(difference <= clock.error.magnitude + 10_000, "\(clock)")
            #expect(clock.error > 0 && clock.error < hour)
        }
        // The next daemon has not measured it.
        _ = try database.host("web-1").renew()
        #expect(try right.hosts().first?.clock == nil)
    }

    @Test(.timeLimit(.minutes(5)))
    func `The fingerprint of the tasks is that of the last renewal`() throws {
        let one = database.host("web-1")
        _ = try one.renew(tasks: "a")
        #expect(try one.hosts().map(\.tasks) == ["a"])
        _ = try one.renew(tasks: "b")
        #expect(try one.hosts().map(\.tasks) == ["b"])
    }
}
