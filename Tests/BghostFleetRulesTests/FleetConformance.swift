// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFleetRules
import BghostModel
import BghostPolicy
import Testing

/// What a test does to a store of partitions besides its calls.
///
/// A database cannot be told the time: it implements `pass` by moving the ends of all leases back.
protocol FleetHarness: SendableMetatype {
    associatedtype Store: PartitionStore

    /// Two pools of eight partitions, without a host.
    var store: Store { get set }

    /// Lets that many nanoseconds pass for the leases.
    mutating func pass(_ nanoseconds: UInt64)

    /// Keeps a copy of all that is stored.
    mutating func save()

    /// Brings the copy back, as a failover to a standby that was behind does.
    mutating func goBack()
}

/// What each store of partitions must do, each check with a store of its own.
///
/// The suite of a store runs each of `checks`.
final class FleetConformance<Harness: FleetHarness> {
    struct Check: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let run: @Sendable (FleetConformance) throws -> Void

        init(
            _ name: String,
            _ run: @escaping @Sendable (FleetConformance) throws -> Void
        ) {
            testDescription = name
            self.run = run
        }
    }

    var harness: Harness

    init(harness: Harness) { self.harness = harness }

    static var checks: [Check] { hostChecks + batchChecks }

    // MARK: Short words

    func register(_ name: String, slots: Int = 2, pools: Set<UInt8> = [0]) throws
        -> HostSession
    {
        let terms = HostTerms(name: name, lease: FleetSample.lease, slots: slots, pools: pools)
        let last = try harness.store.incarnation(of: name)
        return try harness.store.register(terms, after: last)
    }

    func claim(
        _ session: HostSession,
        holding held: [PartitionID] = [],
        mayReap: Bool = false
    ) throws -> [PartitionGrant] {
        try harness.store.claim(holding: held, mayReap: mayReap, session).grants
    }

    /// A host that owns all partitions of the first pool.
    func owner(_ name: String = "a") throws -> HostSession {
        let session = try register(name)
        #expect(try claim(session).map(\.partition) == Self.partitions())
        return session
    }

    /// Folds changes of one partition and commits them.
    func commit(
        _ changes: [StoreChange],
        number: Int64,
        in partition: PartitionID = PartitionID(number: 0),
        _ session: HostSession
    ) throws {
        var fold = BatchFold()
        #expect(try fold.add(changes, in: partition).isEmpty)
        // The conformance of the answer is that it comes.
        _ = try harness.store.commit(fold.take(), number: number, session)
    }

    func contents(
        _ partition: PartitionID = PartitionID(number: 0)
    ) throws -> PartitionContents {
        try harness.store.contents(of: partition)
    }

    func pass(seconds: Double) {
        harness.pass(UInt64(seconds * Double(FleetSample.second)))
    }

    static func partitions(_ range: Range<UInt16> = 0..<8, pool: UInt8 = 0) -> [PartitionID] {
        range.map { PartitionID(pool: pool, number: $0) }
    }
}

// MARK: Hosts and partitions

extension FleetConformance {
    static var hostChecks: [Check] {
        [
            Check("grants the share of a host") { try $0.grants() },
            Check("a second taker gets what is free only") { try $0.sharesWithAnother() },
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
        let session = try register("a")
        let answer = try harness.store.claim(holding: [], mayReap: false, session)
        #expect(answer.grants.map(\.partition) == Self.partitions())
        #expect(answer.grants.allSatisfy { $0.epoch >= 1 })
        #expect(answer.shares == [0: 8])
        #expect(try claim(session, holding: Self.partitions()).isEmpty)
    }

    func sharesWithAnother() throws {
        let first = try owner()
        let second = try register("b", slots: 6)
        let answer = try harness.store.claim(holding: [], mayReap: true, second)
        #expect(answer.grants.isEmpty && answer.shares == [0: 6])
        #expect(
            try harness.store.claim(holding: Self.partitions(), mayReap: true, first).shares
                == [0: 2]
        )
        try harness.store.release(Self.partitions(1..<8), first)
        #expect(try claim(second).map(\.partition) == Self.partitions(1..<7))
        // The last one is above the shares of both, but for its rounding.
        #expect(
            try claim(first, holding: Self.partitions(0..<1)).map(\.partition)
                == Self.partitions(7..<8)
        )
        #expect(try claim(second, holding: Self.partitions(1..<7)).isEmpty)
    }

    func separatesPools() throws {
        let first = try register("a", pools: [1])
        let second = try register("b", pools: [0, 1])
        #expect(try claim(first).map(\.partition) == Self.partitions(0..<4, pool: 1))
        #expect(
            try claim(second).map(\.partition)
                == Self.partitions() + Self.partitions(4..<8, pool: 1)
        )
    }

    func releases() throws {
        let first = try owner()
        let second = try register("b")
        try harness.store.release(Self.partitions(), second)
        #expect(try claim(second).isEmpty)
        let before = try claim(first, holding: Self.partitions(1..<8))
        try harness.store.release(Self.partitions(0..<1), first)
        let after = try claim(second)
        #expect(before.map(\.partition) == after.map(\.partition))
        #expect(after.first?.epoch == before.first.map { $0.epoch + 1 })
        // It is no longer the first one's.
        try harness.store.release(Self.partitions(0..<1), first)
        #expect(try claim(second, holding: Self.partitions(0..<1)).isEmpty)
    }

    /// The answer to a claim was lost, or the partition was given back and that answer was lost.
    func grantsAnew() throws {
        let session = try register("a")
        let lost = try claim(session)
        let again = try claim(session)
        #expect(again.map(\.partition) == lost.map(\.partition))
        #expect(zip(lost, again).allSatisfy { $0.epoch < $1.epoch })
    }

    func registersAgain() throws {
        let first = try owner()
        try commit([.accepted(FleetSample.request(1), replacing: nil)], number: 1, first)
        let second = try register("a")
        #expect(second.host == first.host && second.incarnation > first.incarnation)
        #expect(throws: FleetRefusal.fenced) {
            try commit([.closed(FleetSample.id(1), .cancelled)], number: 2, first)
        }
        #expect(throws: FleetRefusal.fenced) { try harness.store.resume(first) }
        #expect(throws: FleetRefusal.fenced) { try claim(first) }
        let grants = try claim(second)
        #expect(grants.map(\.partition) == Self.partitions())
        #expect(grants.allSatisfy { $0.epoch >= 2 })
        #expect(try contents().pending == [FleetSample.request(1)])
        try commit([.closed(FleetSample.id(1), .cancelled)], number: 1, second)
        #expect(try contents().pending.isEmpty)
    }

    func refusesLateRegistrations() throws {
        #expect(try harness.store.incarnation(of: "a") == 0)
        let session = try owner()
        let last = try harness.store.incarnation(of: "a")
        #expect(last == session.incarnation && last > 0)
        let terms = HostTerms(name: "a", lease: FleetSample.lease, slots: 2)
        for other in [-1, 0, last - 1, last + 1, .max] {
            #expect(throws: FleetRefusal.registeredMeanwhile) {
                try harness.store.register(terms, after: other)
            }
        }
        #expect(try claim(session, holding: Self.partitions()).isEmpty)
        try commit([], number: 1, session)
        #expect(try harness.store.register(terms, after: last).incarnation > last)
    }

    func leaves() throws {
        let first = try owner()
        let second = try register("b")
        try harness.store.leave(first)
        #expect(throws: FleetRefusal.fenced) { try harness.store.leave(first) }
        #expect(throws: FleetRefusal.fenced) { try commit([], number: 1, first) }
        let answer = try harness.store.claim(holding: [], mayReap: false, second)
        #expect(answer.grants.map(\.partition) == Self.partitions() && answer.shares == [0: 8])
    }

    func doesNotReap() throws {
        let first = try owner()
        let second = try register("b")
        pass(seconds: 3600)
        #expect(try claim(second).isEmpty)
        // No other host has taken them, so nothing is lost.
        try commit([.accepted(FleetSample.request(1), replacing: nil)], number: 1, first)
        #expect(try claim(second, mayReap: true).isEmpty)
        #expect(try contents().pending == [FleetSample.request(1)])
    }

    func reaps() throws {
        let first = try owner()
        try commit([.accepted(FleetSample.request(1), replacing: nil)], number: 1, first)
        pass(seconds: 9)
        let second = try register("b")
        #expect(try claim(second, mayReap: true).isEmpty)
        pass(seconds: 1.1)
        let grants = try claim(second, mayReap: true)
        #expect(grants.map(\.partition) == Self.partitions())
        #expect(grants.allSatisfy { $0.epoch >= 2 })
        #expect(try contents().pending == [FleetSample.request(1)])
        for refused in [
            { try $0.commit([.closed(FleetSample.id(1), .missed)], number: 2, first) },
            { _ = try $0.claim(first, holding: Self.partitions()) },
            { try $0.harness.store.release(Self.partitions(), first) },
            { _ = try $0.harness.store.resume(first) },
            { try $0.harness.store.leave(first) },
        ] as [(FleetConformance) throws -> Void] {
            #expect(throws: FleetRefusal.fenced) { try refused(self) }
        }
        #expect(try contents().pending == [FleetSample.request(1)])
        #expect(try claim(second, holding: Self.partitions()).isEmpty)
        // It comes back by another registration, and both share.
        #expect(try claim(register("a")).isEmpty)
    }

    func renews() throws {
        var first = try owner()
        let second = try register("b")
        for number in 1...3 {
            pass(seconds: 6)
            try commit([], number: Int64(number), first)
            pass(seconds: 6)
            first = try harness.store.resume(first).session
        }
        #expect(try claim(second, mayReap: true).isEmpty)
    }

    func refusesLateConnections() throws {
        let first = try owner()
        let second = try register("b")
        let resumed = try harness.store.resume(first)
        #expect(resumed.lastBatch == 0 && resumed.session.incarnation == first.incarnation)
        #expect(throws: FleetRefusal.fenced) {
            try commit([.accepted(FleetSample.request(1), replacing: nil)], number: 1, first)
        }
        #expect(throws: FleetRefusal.fenced) { try claim(first) }
        // Without the number of the connection, a delayed release would free what the host uses again.
        #expect(throws: FleetRefusal.fenced) {
            try harness.store.release(Self.partitions(), first)
        }
        #expect(throws: FleetRefusal.fenced) { try harness.store.leave(first) }
        #expect(try claim(second).isEmpty)
        #expect(try contents().pending.isEmpty)
        try commit(
            [.accepted(FleetSample.request(1), replacing: nil)],
            number: 1,
            resumed.session
        )
        // The answer to `resume` may be lost too: the host asks with the connection that it knows.
        #expect(try harness.store.resume(first).lastBatch == 1)
        #expect(throws: FleetRefusal.fenced) { try commit([], number: 2, resumed.session) }
    }

    func refusesStrangers() throws {
        let session = try owner()
        let stranger = HostSession(host: 77, incarnation: 1, connection: 1)
        #expect(throws: FleetRefusal.fenced) { try commit([], number: 1, stranger) }
        #expect(throws: FleetRefusal.fenced) { try claim(stranger) }
        #expect(throws: FleetRefusal.fenced) { try harness.store.resume(stranger) }
        #expect(throws: FleetRefusal.unknownPartition) {
            try contents(PartitionID(pool: 0, number: 8))
        }
        #expect(throws: FleetRefusal.unknownPartition) {
            try commit(
                [.accepted(FleetSample.request(1), replacing: nil)],
                number: 1,
                in: PartitionID(pool: 9, number: 0),
                session
            )
        }
    }
}
