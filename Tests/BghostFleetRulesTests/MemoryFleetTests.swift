// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFleetRules
import BghostFleetSupport
import BghostModel
import BghostTestSupport
import Testing

@Suite struct MemoryFleetTests {
    struct Harness: FleetHarness {
        var store = MemoryFleet(partitions: 8, pools: 2, clock: 1_795_219_200_000_000_000)
        private var saved: MemoryFleet?

        mutating func pass(_ nanoseconds: UInt64) { store.clock += Int64(nanoseconds) }

        mutating func save() { saved = store }

        mutating func goBack() { store = saved ?? store }
    }

    @Test(arguments: FleetConformance<Harness>.checks)
    func `The fleet in memory conforms`(_ check: FleetConformance<Harness>.Check) throws {
        try check.pass(Harness())
    }

    /// Hosts come and go; after each change all partitions find an owner, none above its share.
    @Test(arguments: SeededGenerator.seeds(10))
    func `Partitions follow the slots`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var fleet = MemoryFleet(partitions: 16, clock: 0)
        var hosts: [(session: HostSession, owned: Set<PartitionID>)] = []
        for step in 0..<40 {
            if hosts.count > 1, Bool.random(using: &random) {
                let gone = hosts.remove(at: Int.random(in: hosts.indices, using: &random))
                try fleet.leave(gone.session)
            } else {
                let slots = Int.random(in: 1...8, using: &random)
                let terms = HostTerms(name: "h\(step)", lease: FleetSample.lease, slots: slots)
                let nonce = FenceNonce(using: &random)
                hosts.append((try fleet.register(terms, after: .none, nonce: nonce), []))
            }
            var shares: [Int] = []
            for _ in 0..<20 {
                shares = []
                for index in hosts.indices {
                    let (session, owned) = hosts[index]
                    let held = owned.sorted()
                    let answer = try fleet.claim(
                        holding: held,
                        mayReap: false,
                        nonce: FenceNonce(using: &random),
                        session
                    )
                    hosts[index].session = answer.session
                    hosts[index].owned.formUnion(answer.grants.map(\.partition))
                    shares.append(answer.shares[0] ?? 0)
                    let back = PartitionShare.surplus(
                        owned: held,
                        idle: owned,
                        share: answer.shares[0] ?? 0,
                        most: 2
                    )
                    try fleet.release(back, answer.session)
                    hosts[index].owned.subtract(back)
                }
            }
            #expect(hosts.reduce(0) { $0 + $1.owned.count } == 16, "step \(step)")
            #expect(zip(hosts, shares).allSatisfy { $0.owned.count <= $1 }, "step \(step)")
            let all = hosts.reduce(into: Set<PartitionID>()) { $0.formUnion($1.owned) }
            #expect(all.count == 16, "step \(step)")
        }
    }
}
