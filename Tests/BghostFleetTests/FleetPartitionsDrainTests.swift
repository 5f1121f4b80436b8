// SPDX-License-Identifier: Apache-2.0

@testable import BghostFleet
@testable import BghostFleetStore
import BghostModel
import BghostTestSupport
import Testing

/// Drained hosts that own requests of the fleet, in a real PostgreSQL.
@Suite(.serialized, .ownThreads, .postgreSQL) struct FleetPartitionsDrainTests {
    private let database: FleetDatabase

    init() throws { database = try FleetDatabase() }

    @Test(.timeLimit(.minutes(5)))
    func `A host is drained only once it has given its partitions back`() throws {
        let (one, two) = (database.host("web-1"), database.host("web-2"))
        _ = try one.renew()
        _ = try two.renew()
        let store = database.partitions()
        let session = try store.join("web-1")
        #expect(try two.hosts().map(\.partitions) == [8, 0])
        #expect(try two.hosts().map(\.state) == [.live, .live])
        #expect(try two.setDrained(true, host: "web-1") == true)
        #expect(try one.renew().isDrained)
        // It has no start, and runs requests of its partitions.
        #expect(try two.hosts().map(\.state) == [.draining, .live])
        let own = (0..<8).map { PartitionID(number: $0) }
        try store.release(Array(own.dropFirst()), session)
        #expect(try two.hosts().first?.state == .draining)
        #expect(try two.hosts().first?.partitions == 1)
        try store.release(own, session)
        #expect(try two.hosts().map(\.state) == [.drained, .live])
        // What the other one owns does not matter for it.
        _ = try database.partitions().join("web-2")
        let partitions = try one.hosts().map(\.partitions)
        #expect(partitions.first == 0 && partitions.last ?? 0 > 0, "\(partitions)")
        #expect(try one.hosts().map(\.state) == [.drained, .live])
    }

    @Test(.timeLimit(.minutes(5)))
    func `A user who cannot read who owns partitions still lists the hosts`() throws {
        _ = try database.host("web-1").renew()
        let store = database.partitions()
        _ = try store.join("web-1")
        let guest = database.name + "_guest"
        try database.query(
            """
            CREATE ROLE \(guest) LOGIN;
            GRANT USAGE ON SCHEMA bghost TO \(guest);
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA bghost TO \(guest)
            """
        )
        let way = database.server.connection(database.name, user: guest)
        let poor = database.host("web-2", connection: way)
        _ = try poor.renew()
        #expect(try poor.hosts().map(\.partitions) == [0, 0])
    }
}
