// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFleetRules
internal import BghostModel
internal import BghostPolicy
internal import Testing

// MARK: A store that went back

/// The counters of the store repeat then, so each check first leads them to the same numbers again.
extension FleetConformance {
    static var restoredChecks: [Check] {
        [
            Check("refuses a lost registration") { try $0.refusesLostRegistrations() },
            Check("refuses a lost connection") { try $0.refusesLostConnections() },
            Check("refuses a registration after a lost one") { try $0.refusesAfterLost() },
            Check("refuses the owner of a lost grant") { try $0.refusesLostGrants() },
            Check("permits what an unanswered call began") { try $0.resumesUnanswered() },
        ]
    }

    /// No call of a session is permitted, and none changes anything for the one that is in force.
    private func expectRefused(_ lost: HostSession, _ session: HostSession) throws {
        expect(throws: .fenced) {
            try commit([.accepted(FleetSample.request(1), replacing: nil)], number: 1, lost)
        }
        expect(throws: .fenced) { try answer(toClaimOf: lost) }
        expect(throws: .fenced) {
            try harness.store.release(Self.partitions(), lost)
        }
        expect(throws: .fenced) { try harness.store.leave(lost) }
        expect(throws: .fenced) { try answer(toResumeOf: lost) }
        let claimed = try answer(toClaimOf: session, holding: Self.partitions())
        expect(claimed.grants.isEmpty && claimed.session == session)
        try commit([.accepted(FleetSample.request(2), replacing: nil)], number: 1, session)
        expect(try contents().pending.map(\.id.low) == [2])
    }

    func refusesLostRegistrations() throws {
        harness.save()
        let lost = try owner()
        harness.goBack()
        try expectRefused(lost, owner())
    }

    func refusesLostConnections() throws {
        let session = try owner()
        var (lost, next) = (session, session)
        harness.save()
        expect(try resume(&lost) == 0)
        harness.goBack()
        expect(try resume(&next) == 0)
        try expectRefused(lost, next)
    }

    /// Otherwise a delayed message would end a registration whose runs go on.
    func refusesAfterLost() throws {
        harness.save()
        let lost = try register("a").incarnation
        harness.goBack()
        let session = try owner()
        let terms = HostTerms(name: "a", lease: FleetSample.lease, slots: 2)
        expect(throws: .registeredMeanwhile) {
            try harness.store.register(terms, after: lost, nonce: nonce())
        }
        let claimed = try answer(toClaimOf: session, holding: Self.partitions())
        expect(claimed.grants.isEmpty)
    }

    /// A host that claimed a partition after the state that came back believes to own it.
    ///
    /// It has kept no batch since, so the number of its next one does not tell.
    func refusesLostGrants() throws {
        let first = try owner()
        var second = try register("b")
        harness.save()
        try harness.store.release(Self.partitions(0..<2), first)
        expect(try claim(&second).map(\.partition) == Self.partitions(0..<2))
        harness.goBack()
        try expectRefused(second, first)
    }

    /// The host lacks the answers to its calls; the store has kept none, the first, or all of them.
    func resumesUnanswered() throws {
        for kept in 0...3 {
            var session = try register("a")
            for call in 0..<3 {
                let nonce = session.draw(using: &random)
                guard call < kept else { continue }
                if call == 0 {
                    // The answer is lost.
                    _ = try harness.store.claim(holding: [], mayReap: false, nonce: nonce, session)
                } else {
                    // The answer is lost.
                    _ = try harness.store.resume(session, nonce: nonce)
                }
            }
            expect(try resume(&session) == 0)
            expect(session.unanswered.isEmpty)
            expect(try claim(&session).map(\.partition) == Self.partitions())
        }
    }
}
