// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostFleet
import BghostModel
import BghostTestSupport
import Testing

/// Many starts that are claimed, or ended, with one call of a real PostgreSQL.
@Suite(.serialized, .ownThreads, .postgreSQL) struct FleetBatchTests {
    private let database: FleetDatabase

    init() throws { database = try FleetDatabase() }

    private func claims(_ slots: ClosedRange<Int64>, _ request: UInt64) -> [FleetClaim] {
        slots.map { slot in
            let id = RunID(high: request, low: UInt64(slot))
            return FleetClaim(task: "report", slot: slot, request: id)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `Each claim of a call has its own answer, in their order`() throws {
        let (one, two) = (database.host("web-1"), database.host("web-2"))
        _ = try one.renew()
        _ = try two.renew()
        #expect(try one.claim([]).isEmpty)
        #expect(try one.claim(claims(1...3, 1)) == [.claimed, .claimed, .claimed])
        try one.release(Array(claims(2...2, 1)), .served)
        try database.query("UPDATE bghost.start SET lease_until = 'epoch' WHERE slot = 3")
        // The third one is taken over, and the fourth one is new.
        let wanted = Array(claims(1...4, 2).reversed())
        #expect(
            try two.claim(wanted)
                == [.claimed, .claimed, .served(by: "web-1"), .taken(by: "web-1")]
        )
        // A drained host gets what it has, and nothing else.
        _ = try one.setDrained(true, host: "web-2")
        #expect(
            try two.claim(claims(1...5, 2))
                == [.taken(by: "web-1"), .served(by: "web-1"), .claimed, .claimed, .drained]
        )
    }

    @Test(.timeLimit(.minutes(5)))
    func `Ends of claims count only for those that this host has`() throws {
        let (one, two) = (database.host("web-1"), database.host("web-2"))
        _ = try one.renew()
        _ = try two.renew()
        _ = try one.claim(claims(1...4, 1))
        try two.release(claims(1...4, 1), .served)
        try one.release(claims(1...2, 2), .served)
        try one.release([], .served)
        #expect(try two.hosts().map(\.claims) == [4, 0])
        try one.release(claims(1...2, 1), .served)
        try one.release(claims(3...3, 1), .free)
        let answers = try two.claim(claims(1...4, 2))
        let (served, taken) = (FleetAnswer.served(by: "web-1"), FleetAnswer.taken(by: "web-1"))
        #expect(answers == [served, served, .claimed, taken])
    }

    @Test(.timeLimit(.minutes(5)))
    func `A name with any character is claimed as it is`() throws {
        let one = database.host("web-1")
        _ = try one.renew()
        let names = [#"a"b\c"#, "{x,y}", "NULL", "", "é 日本", "a\u{301}\"", "\n"]
        let claims = names.enumerated().map { index, name in
            FleetClaim(task: name, slot: 1, request: RunID(high: 1, low: UInt64(index)))
        }
        #expect(try one.claim(claims) == names.map { _ in .claimed })
        #expect(try one.claim(claims) == names.map { _ in .claimed })
        let count = try database.query("SELECT count(DISTINCT task) FROM bghost.start")
        #expect(count == ["\(names.count)"])
    }

    @Test(.timeLimit(.minutes(5)))
    func `A call does not wait for the rows of starts that other hosts have`() throws {
        let (one, two) = (database.host("web-1"), database.host("web-2"))
        _ = try one.renew()
        _ = try two.renew()
        _ = try one.claim(claims(1...2, 1))
        // As a renewal of the first host that hangs in the server.
        let holder = try database.session()
        try holder.run("BEGIN; UPDATE bghost.start SET lease_until = lease_until")
        let taken = FleetAnswer.taken(by: "web-1")
        #expect(try two.claim(claims(1...3, 2)) == [taken, taken, .claimed])
        try holder.run("COMMIT")
    }

    @Test(.timeLimit(.minutes(5)))
    func `Of hosts that claim hundreds of starts at once exactly one gets each`() async throws {
        let hosts = (1...4).map { database.host("web-\($0)") }
        for host in hosts { _ = try host.renew() }
        let won = try await withThrowingTaskGroup(of: [Int64].self) { group in
            for (index, host) in hosts.enumerated() {
                group.addTask {
                    let wanted = claims(1...250, UInt64(index)).shuffled()
                    return try zip(wanted, host.claim(wanted))
                        .filter { $0.1 == .claimed }.map(\.0.slot)
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(won.sorted() == Array(1...250))
    }
}
