// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostFleetRules
internal import BghostModel
internal import BghostPolicy
internal import BghostTestSupport
internal import Testing

/// What a test does to a store of partitions besides its calls.
///
/// A database cannot be told the time: it implements `pass` by moving the ends of all leases back.
package protocol FleetHarness: SendableMetatype {
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
/// The suite of a store runs each of `checks`, and `BrokenFleet` shows that each of them can fail.
package final class FleetConformance<Harness: FleetHarness> {
    package struct Check: Sendable, CustomTestStringConvertible {
        package let testDescription: String
        let run: @Sendable (FleetConformance) throws -> Void

        init(
            _ name: String,
            _ run: @escaping @Sendable (FleetConformance) throws -> Void
        ) {
            testDescription = name
            self.run = run
        }

        /// Runs the check, which the store has to pass.
        package func pass(_ harness: Harness) throws {
            let conformance = FleetConformance(harness: harness)
            try run(conformance)
            for failure in conformance.failures {
                Issue.record("The store does not conform.", sourceLocation: failure)
            }
        }

        /// Whether the store fails the check.
        package func fails(_ harness: Harness) -> Bool {
            let conformance = FleetConformance(harness: harness)
            do {
                try run(conformance)
                return !conformance.failures.isEmpty
            } catch {
                return true
            }
        }
    }

    var harness: Harness
    /// For the nonces of hosts.
    var random = SeededGenerator(seed: 1)

    /// Where the store did not do what it must.
    private(set) var failures: [Testing.SourceLocation] = []

    package init(harness: Harness) { self.harness = harness }

    package static var checks: [Check] {
        hostChecks + batchChecks + restoredChecks + letterChecks + listingChecks
    }

    // MARK: Short words

    /// Records a failure without an issue: `BrokenFleet` is to have some.
    func expect(_ isMet: Bool, sourceLocation: Testing.SourceLocation = #_sourceLocation) {
        if !isMet { failures.append(sourceLocation) }
    }

    func expect<Answer>(
        throws refusal: FleetRefusal,
        sourceLocation: Testing.SourceLocation = #_sourceLocation,
        _ call: () throws -> Answer
    ) {
        do {
            // Only whether it is refused matters.
            _ = try call()
            failures.append(sourceLocation)
        } catch {
            if error as? FleetRefusal != refusal { failures.append(sourceLocation) }
        }
    }

    func register(_ name: String, slots: Int = 2, pools: Set<UInt8> = [0]) throws
        -> HostSession
    {
        let terms = HostTerms(name: name, lease: FleetSample.lease, slots: slots, pools: pools)
        let last = try harness.store.incarnation(of: name)
        return try harness.store.register(terms, after: last, nonce: nonce())
    }

    func nonce() -> FenceNonce { FenceNonce(using: &random) }

    /// The answer to `resume`, without taking up its connection.
    func answer(toResumeOf session: HostSession) throws -> ResumedSession {
        try harness.store.resume(session, nonce: nonce())
    }

    /// Begins another connection, and returns the number of the last batch.
    func resume(_ session: inout HostSession) throws -> Int64 {
        let nonce = session.draw(using: &random)
        let answer = try harness.store.resume(session, nonce: nonce)
        session = answer.session
        return answer.lastBatch
    }

    /// The answer to a claim, without taking up its connection.
    func answer(
        toClaimOf session: HostSession,
        holding held: [PartitionID] = [],
        mayReap: Bool = false
    ) throws -> ClaimAnswer {
        try harness.store.claim(holding: held, mayReap: mayReap, nonce: nonce(), session)
    }

    func claim(
        _ session: inout HostSession,
        holding held: [PartitionID] = [],
        mayReap: Bool = false
    ) throws -> [PartitionGrant] {
        let claimed = try answer(toClaimOf: session, holding: held, mayReap: mayReap)
        session = claimed.session
        return claimed.grants
    }

    /// A host that owns all partitions of the first pool.
    func owner(_ name: String = "a") throws -> HostSession {
        var session = try register(name)
        expect(try claim(&session).map(\.partition) == Self.partitions())
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
        expect(try fold.add(changes, in: partition).isEmpty)
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
