// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFleetRules
internal import BghostModel
internal import BghostPolicy
internal import Testing

// MARK: Hosts and partitions

extension FleetConformance {
    static var hostChecks: [Check] {
        [
            Check("grants the share of a host") { try $0.grants() },
            Check("a second taker gets what is free only") { try $0.sharesWithAnother() },
            Check("a host without slots leaves all to the others") { try $0.offersSlots() },
            Check("grants of each pool are apart") { try $0.separatesPools() },
            Check("releases only what the host owns") { try $0.releases() },
            Check("grants anew what the host does not hold") { try $0.grantsAnew() },
            Check("a registration ends the one before") { try $0.registersAgain() },
            Check("refuses a delayed registration") { try $0.refusesLateRegistrations() },
            Check("a host that leaves frees its partitions") { try $0.leaves() },
            Check("takes nothing from a dead host without the rule") { try $0.doesNotReap() },
            Check("takes a dead host's partitions") { try $0.reaps() },
            Check("batches and connections renew the lease") { try $0.renews() },
            Check("refuses an earlier connection") { try $0.refusesLateConnections() },
            Check("refuses a host that it does not know") { try $0.refusesStrangers() },
        ]
    }

    func grants() throws {
        var session = try register("a")
        let claimed = try answer(toClaimOf: session)
        expect(claimed.grants.map(\.partition) == Self.partitions())
        expect(claimed.grants.allSatisfy { $0.epoch >= 1 })
        expect(claimed.shares == [0: 8])
        session = claimed.session
        expect(try claim(&session, holding: Self.partitions()).isEmpty)
    }

    func sharesWithAnother() throws {
        var first = try owner()
        var second = try register("b", slots: 6)
        let claimed = try answer(toClaimOf: second, mayReap: true)
        expect(claimed.grants.isEmpty && claimed.shares == [0: 6])
        expect(
            try answer(toClaimOf: first, holding: Self.partitions(), mayReap: true).shares
                == [0: 2]
        )
        try harness.store.release(Self.partitions(1..<8), first)
        expect(try claim(&second).map(\.partition) == Self.partitions(1..<7))
        // The last one is above the shares of both, but for its rounding.
        expect(
            try claim(&first, holding: Self.partitions(0..<1)).map(\.partition)
                == Self.partitions(7..<8)
        )
        expect(try claim(&second, holding: Self.partitions(1..<7)).isEmpty)
    }

    /// As a drained host does, whose lease goes on.
    func offersSlots() throws {
        var first = try owner()
        var second = try register("b")
        try harness.store.offer(slots: 0, first)
        try harness.store.release(Self.partitions(), first)
        expect(try claim(&second).map(\.partition) == Self.partitions())
        expect(try claim(&first).isEmpty)
        try harness.store.offer(slots: 2, first)
        expect(try answer(toClaimOf: first).shares == [0: 4])
        let earlier = second
        expect(try register("b").host == earlier.host)
        expect(throws: .fenced) { try harness.store.offer(slots: 0, earlier) }
    }

    func separatesPools() throws {
        var first = try register("a", pools: [1])
        var second = try register("b", pools: [0, 1])
        expect(try claim(&first).map(\.partition) == Self.partitions(0..<4, pool: 1))
        expect(
            try claim(&second).map(\.partition)
                == Self.partitions() + Self.partitions(4..<8, pool: 1)
        )
    }

    func releases() throws {
        var first = try owner()
        var second = try register("b")
        try harness.store.release(Self.partitions(), second)
        expect(try claim(&second).isEmpty)
        let before = try claim(&first, holding: Self.partitions(1..<8))
        try harness.store.release(Self.partitions(0..<1), first)
        let after = try claim(&second)
        expect(before.map(\.partition) == after.map(\.partition))
        expect(after.first?.epoch == before.first.map { $0.epoch + 1 })
        // It is no longer the first one's.
        try harness.store.release(Self.partitions(0..<1), first)
        expect(try claim(&second, holding: Self.partitions(0..<1)).isEmpty)
    }

    /// The answer to a claim was lost, or the partition was given back and that answer was lost.
    func grantsAnew() throws {
        var session = try register("a")
        // The host learns of no answer, but knows the nonce.
        let nonce = session.draw(using: &random)
        let lost = try harness.store.claim(holding: [], mayReap: false, nonce: nonce, session)
            .grants
        expect(throws: .fenced) { try answer(toClaimOf: session) }
        expect(try resume(&session) == 0)
        let again = try claim(&session)
        expect(again.map(\.partition) == lost.map(\.partition))
        expect(zip(lost, again).allSatisfy { $0.epoch < $1.epoch })
    }

    func registersAgain() throws {
        let first = try owner()
        try commit([.accepted(FleetSample.request(1), replacing: nil)], number: 1, first)
        var second = try register("a")
        expect(second.host == first.host && second.incarnation.count > first.incarnation.count)
        expect(throws: .fenced) {
            try commit([.closed(FleetSample.id(1), .cancelled)], number: 2, first)
        }
        expect(throws: .fenced) { try answer(toResumeOf: first) }
        expect(throws: .fenced) { try answer(toClaimOf: first) }
        let grants = try claim(&second)
        expect(grants.map(\.partition) == Self.partitions())
        expect(grants.allSatisfy { $0.epoch >= 2 })
        expect(try contents().pending == [FleetSample.request(1)])
        try commit([.closed(FleetSample.id(1), .cancelled)], number: 1, second)
        expect(try contents().pending.isEmpty)
    }

    func refusesLateRegistrations() throws {
        expect(try harness.store.incarnation(of: "a") == .none)
        var session = try owner()
        let last = try harness.store.incarnation(of: "a")
        expect(last == session.incarnation && last.count > 0)
        let terms = HostTerms(name: "a", lease: FleetSample.lease, slots: 2)
        for count in [-1, 0, last.count - 1, last.count + 1, .max] {
            let other = FenceNumber(count: count, nonce: last.nonce)
            expect(throws: .registeredMeanwhile) {
                try harness.store.register(terms, after: other, nonce: nonce())
            }
        }
        expect(try claim(&session, holding: Self.partitions()).isEmpty)
        try commit([], number: 1, session)
        let next = try harness.store.register(terms, after: last, nonce: nonce())
        expect(next.incarnation.count > last.count)
    }

    func leaves() throws {
        let first = try owner()
        let second = try register("b")
        try harness.store.leave(first)
        expect(throws: .fenced) { try harness.store.leave(first) }
        expect(throws: .fenced) { try commit([], number: 1, first) }
        let claimed = try answer(toClaimOf: second)
        expect(claimed.grants.map(\.partition) == Self.partitions() && claimed.shares == [0: 8])
    }

    func doesNotReap() throws {
        let first = try owner()
        var second = try register("b")
        pass(seconds: 3600)
        expect(try claim(&second).isEmpty)
        // No other host has taken them, so nothing is lost.
        try commit([.accepted(FleetSample.request(1), replacing: nil)], number: 1, first)
        expect(try claim(&second, mayReap: true).isEmpty)
        expect(try contents().pending == [FleetSample.request(1)])
    }

    func reaps() throws {
        let first = try owner()
        try commit([.accepted(FleetSample.request(1), replacing: nil)], number: 1, first)
        pass(seconds: 9)
        var second = try register("b")
        expect(try claim(&second, mayReap: true).isEmpty)
        pass(seconds: 1.1)
        let grants = try claim(&second, mayReap: true)
        expect(grants.map(\.partition) == Self.partitions())
        expect(grants.allSatisfy { $0.epoch >= 2 })
        expect(try contents().pending == [FleetSample.request(1)])
        for refused in [
            { try $0.commit([.closed(FleetSample.id(1), .missed)], number: 2, first) },
            { _ = try $0.answer(toClaimOf: first, holding: Self.partitions()) },
            { try $0.harness.store.release(Self.partitions(), first) },
            { _ = try $0.answer(toResumeOf: first) },
            { try $0.harness.store.leave(first) },
        ] as [(FleetConformance) throws -> Void] {
            expect(throws: .fenced) { try refused(self) }
        }
        expect(try contents().pending == [FleetSample.request(1)])
        expect(try claim(&second, holding: Self.partitions()).isEmpty)
        // It comes back by another registration, and both share.
        expect(try answer(toClaimOf: register("a")).grants.isEmpty)
    }

    func renews() throws {
        var first = try owner()
        var second = try register("b")
        for number in 1...3 {
            pass(seconds: 6)
            try commit([], number: Int64(number), first)
            pass(seconds: 6)
            expect(try resume(&first) == Int64(number))
        }
        expect(try claim(&second, mayReap: true).isEmpty)
    }

    func refusesLateConnections() throws {
        var first = try owner()
        var second = try register("b")
        let nonce = first.draw(using: &random)
        let resumed = try harness.store.resume(first, nonce: nonce)
        expect(resumed.lastBatch == 0 && resumed.session.incarnation == first.incarnation)
        expect(throws: .fenced) {
            try commit([.accepted(FleetSample.request(1), replacing: nil)], number: 1, first)
        }
        expect(throws: .fenced) { try answer(toClaimOf: first) }
        // Without the number of the connection, a delayed release would free what the host uses again.
        expect(throws: .fenced) {
            try harness.store.release(Self.partitions(), first)
        }
        expect(throws: .fenced) { try harness.store.leave(first) }
        expect(try claim(&second).isEmpty)
        expect(try contents().pending.isEmpty)
        try commit(
            [.accepted(FleetSample.request(1), replacing: nil)],
            number: 1,
            resumed.session
        )
        // The answer to `resume` may be lost too: the host asks with the connection that it knows.
        expect(try resume(&first) == 1)
        expect(throws: .fenced) { try commit([], number: 2, resumed.session) }
    }

    func refusesStrangers() throws {
        let session = try owner()
        let stranger = HostSession(
            host: 77,
            incarnation: session.incarnation,
            connection: session.connection
        )
        expect(throws: .fenced) { try commit([], number: 1, stranger) }
        expect(throws: .fenced) { try answer(toClaimOf: stranger) }
        expect(throws: .fenced) { try answer(toResumeOf: stranger) }
        expect(throws: .unknownPartition) {
            try contents(PartitionID(pool: 0, number: 8))
        }
        expect(throws: .unknownPartition) {
            try commit(
                [.accepted(FleetSample.request(1), replacing: nil)],
                number: 1,
                in: PartitionID(pool: 9, number: 0),
                session
            )
        }
    }
}
