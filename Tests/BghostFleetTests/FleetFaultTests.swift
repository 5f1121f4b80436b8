// SPDX-License-Identifier: Apache-2.0

@testable import BghostFleet
import BghostModel
import BghostTestSupport
import Glibc
import Testing

/// Faults of a real PostgreSQL, and of the way to it.
@Suite(.serialized, .ownThreads, .postgreSQL) struct FleetFaultTests {
    private static func claim(_ slot: Int64, _ request: UInt64) -> FleetClaim {
        FleetDatabase.claim(slot, request)
    }

    // MARK: A server that hangs

    @Test(.timeLimit(.minutes(5)))
    func `A renewal that hangs in the server ends in time, and late it changes no other claim`()
        async throws
    {
        let database = try FleetDatabase()
        // A quarter of the lease is the time of a call, also of one that is answered on a busy machine.
        let one = database.host("web-1", lease: .seconds(40))
        let two = database.host("web-2")
        _ = try two.renew()
        _ = try one.renew()
        #expect(try one.claim(Self.claim(100, 1)) == .claimed)
        // The renewal is in the server, which has not changed the row yet.
        let holder = try database.session()
        try holder.run("BEGIN; SELECT 1 FROM bghost.host WHERE name = 'web-1' FOR UPDATE")
        async let answer = refusal { _ = try one.renew() }
        let backend = try database.blockedBackend()
        #expect(kill(backend, SIGSTOP) == 0)
        defer { kill(backend, SIGCONT) }
        try holder.run("COMMIT")
        let problem = try #require(await answer)
        #expect(problem.kind == .unreachable)
        #expect(problem.reason == "the server has not answered for 10.00 s")
        // Its lease ends meanwhile, and its start is taken over.
        try database.endLease(of: "web-1")
        #expect(try two.claim(Self.claim(100, 2)) == .claimed)
        let before = try database.query("SELECT host, lease_until FROM bghost.start")
        #expect(kill(backend, SIGCONT) == 0)
        _ = try database.answer(
            to: """
                SELECT 1 WHERE NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = \(backend))
                """
        )
        #expect(try database.query("SELECT host, lease_until FROM bghost.start") == before)
        // With another connection it is the same daemon, and hears what became of its start.
        #expect(try one.renew().open.isEmpty)
        #expect(try one.claim(Self.claim(100, 1)) == .taken(by: "web-2"))
        #expect(
            try database.query("SELECT incarnation FROM bghost.host WHERE name = 'web-1'") == ["1"]
        )
    }

    @Test(.timeLimit(.minutes(5)))
    func `Each call to a server that hangs ends after a quarter of the lease`() async throws {
        let own = try PostgreSQLServer()
        let database = try FleetDatabase(own)
        let (one, new) = (
            database.host("web-1", lease: .seconds(40)),
            database.host("web-2", lease: .seconds(40))
        )
        // Its first host makes the schema, which takes longer than a call of the others may on a busy machine.
        _ = try database.host("web-0").renew()
        _ = try one.renew()
        own.signal(SIGSTOP)
        let reason = "the server has not answered for 10.00 s"
        async let newcomer = refusal { _ = try new.renew() }
        #expect(refusal { _ = try one.claim(Self.claim(100, 1)) }?.reason == reason)
        // It connects anew: the kernel takes the connection, and the server does not answer.
        #expect(refusal { _ = try one.renew() }?.reason == reason)
        #expect(await newcomer?.reason == reason)
        own.signal(SIGCONT)
        // It has taken up its work again, so that the next calls are in time on a busy machine too.
        #expect(try database.query("SELECT 1") == ["1"])
        #expect(try one.renew().open.isEmpty)
        #expect(try new.renew().open.isEmpty)
        // The server may have got the first claim, late; then it is the same host's.
        #expect(try one.claim(Self.claim(100, 1)) == .claimed)
        #expect(try new.claim(Self.claim(100, 2)) == .taken(by: "web-1"))
    }

    // MARK: A connection that is cut

    @Test(.timeLimit(.minutes(10)), arguments: CuttingProxy.Direction.allCases)
    func `A claim that is cut at any byte is made once or not at all`(
        direction: CuttingProxy.Direction
    ) throws {
        let database = try FleetDatabase()
        let proxy = try CuttingProxy(server: database.server.socket)
        proxy.start()
        defer { proxy.stop() }
        let way = "host=\(proxy.host) dbname=\(database.name) user=fleet"
        let one = database.host("web-1", connection: way)
        let two = database.host("web-2")
        _ = try one.renew()
        _ = try two.renew()
        proxy.count()
        #expect(try one.claim(Self.claim(1, 1)) == .claimed)
        let length = proxy.passed[direction.rawValue]
        #expect(length > 20)
        var (claimed, lost) = (0, 0)
        for cut in stride(from: 0, to: length, by: direction == .toServer ? 9 : 1) {
            let slot = Int64(1000 + cut)
            proxy.cut(direction, after: cut)
            let problem = refusal { _ = try one.claim(Self.claim(slot, 1)) }
            #expect(problem?.kind == .unreachable, "\(cut): \(String(describing: problem))")
            // Another host is faster than the next connection.
            let other = try two.claim(Self.claim(slot, 2))
            let again = try one.claim(Self.claim(slot, 1))
            #expect((other == .claimed) != (again == .claimed), "\(cut)")
            if again == .claimed { claimed += 1 } else { lost += 1 }
        }
        // A cut answer is one to a claim that the server has, and half of a claim is none.
        #expect(direction == .toServer ? lost > 0 : lost == 0 && claimed == length)
        #expect(
            try database.query("SELECT incarnation FROM bghost.host ORDER BY name") == ["1", "1"]
        )
    }

    @Test(.timeLimit(.minutes(10)))
    func `A connection that is cut while it is made is an error, and the next one works`() throws {
        let database = try FleetDatabase()
        _ = try database.host("web-1").renew()
        let proxy = try CuttingProxy(server: database.server.socket)
        proxy.start()
        defer { proxy.stop() }
        let way = "host=\(proxy.host) dbname=\(database.name) user=fleet"
        /// The bytes of each direction for a host that connects.
        func length() throws -> [Int] {
            let host = database.host("web-1000", connection: way)
            proxy.count()
            return try withExtendedLifetime(host) {
                _ = try host.renew()
                return proxy.passed
            }
        }

        /// Connects a host that the server does not know, since a known one would send less.
        func connect(_ name: String, _ direction: CuttingProxy.Direction, _ cut: Int) throws {
            // The farewell of the host before must not be what is cut.
            proxy.waitForEnd()
            let host = database.host(name, connection: way)
            proxy.cut(direction, after: cut)
            let problem = refusal { _ = try host.renew() }
            #expect(problem?.kind == .unreachable, "\(direction) \(cut): \(problem as Any)")
            proxy.waitForEnd()
            proxy.count()
            #expect(try host.renew().open.isEmpty, "\(direction) \(cut)")
        }

        let passed = try length()
        var number = 1000
        for direction in CuttingProxy.Direction.allCases {
            for cut in stride(from: 0, to: passed[direction.rawValue], by: 31) {
                number += 1
                try connect("web-\(number)", direction, cut)
            }
        }
    }

    // MARK: A server that does not write

    @Test(.timeLimit(.minutes(5)))
    func `A server that becomes read-only is named, and nothing is claimed until it writes again`()
        throws
    {
        let own = try PostgreSQLServer()
        let database = try FleetDatabase(own)
        let host = database.host("web-1")
        _ = try host.renew()
        try own.set("default_transaction_read_only", to: "on", in: database.name)
        let renewal = try #require(refusal { _ = try host.renew() })
        #expect(renewal.kind == .readOnly && renewal.reason.contains("cannot be written to"))
        let claim = Self.claim(100, 1)
        #expect(refusal { _ = try host.claim(claim) }?.kind == .readOnly)
        #expect(refusal { try host.release(claim, .served) }?.kind == .readOnly)
        try own.set("default_transaction_read_only", to: "off", in: database.name)
        #expect(try database.query("SELECT count(*) FROM bghost.start") == ["0"])
        #expect(try host.renew().open.isEmpty)
        #expect(try host.claim(claim) == .claimed)
    }

    // MARK: The fence taken out

    /// The starts that each of the hosts gets, when all of them claim all.
    private func race(_ database: FleetDatabase) async throws -> [Int64] {
        let hosts = (1...4).map { database.host("web-\($0)") }
        for host in hosts { _ = try host.renew() }
        return try await withThrowingTaskGroup(of: [Int64].self) { group in
            for (index, host) in hosts.enumerated() {
                group.addTask {
                    try (0..<20).filter { slot in
                        try host.claim(Self.claim(slot, UInt64(index))) == .claimed
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func doubles(_ starts: [Int64]) -> Int { starts.count - Set(starts).count }

    @Test(.timeLimit(.minutes(5)))
    func `Without the fence the same race finds starts that several hosts serve`() async throws {
        let fenced = try FleetDatabase()
        let served = try await race(fenced)
        #expect(doubles(served) == 0 && Set(served) == Set(0..<20))
        let open = try FleetDatabase()
        _ = try open.host("web-0").renew()
        try open.server.takeOutFence(in: open.name)
        #expect(doubles(try await race(open)) == 60)
    }
}
