// SPDX-License-Identifier: Apache-2.0

@testable import BghostFleetRules
import BghostModel
import BghostTestSupport
import Testing

/// What a fleet promises, whatever happens to its hosts, its network and its store.
///
/// Hosts die, are stopped, leave and come back with other clocks; messages are lost, or arrive after more than
/// a lease; the store is down for longer than a lease. `BGHOST_MORE_SEEDS` plays more histories.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct FleetPropertyTests {
    @Test(arguments: SeededGenerator.seeds(8))
    func `Nothing is lost or counts twice`(seed: UInt64) {
        var world = FleetWorld(seed: seed, faults: 240)
        world.run()
        #expect(world.verdict == FleetJudge.Verdict(), "seed \(seed)")
        #expect(world.judge.acknowledgements > 300)
        #expect(world.judge.refusals > 0)
        #expect(world.judge.adoptions > 2 * Int(FleetWorld.partitions))
    }

    /// Without the comparison of rows, the fence alone holds all of it.
    @Test(arguments: SeededGenerator.seeds(2))
    func `The fence is enough`(seed: UInt64) {
        var world = FleetWorld(seed: seed, faults: 240) { $0.comparesRows = false }
        world.run()
        #expect(world.verdict == FleetJudge.Verdict(), "seed \(seed)")
    }

    /// What is left counts once.
    ///
    /// An asynchronous standby loses what was kept last, also ends of runs.
    @Test(arguments: SeededGenerator.seeds(4))
    func `After a failover to an old state, what is left counts once`(seed: UInt64) {
        var world = FleetWorld(seed: seed, faults: 240, goesBack: true)
        world.run()
        let verdict = world.verdict
        #expect(verdict.acceptedTwice == 0 && verdict.servedTwice == 0, "\(verdict), seed \(seed)")
        #expect(verdict.drifts == 0 && verdict.lateStarts == 0, "\(verdict), seed \(seed)")
        #expect(world.failovers > 3)
    }

    /// An error in a host or in the store, and the parts of the verdict of which one has to find it.
    struct Control: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let fields: [String]
        let play: @Sendable (UInt64) -> FleetWorld

        init(
            _ name: String,
            finds fields: [String],
            goesBack: Bool = false,
            flaw: FleetWorld.Flaw? = nil,
            _ change: @escaping @Sendable (inout MemoryFleet) -> Void = { _ in }
        ) {
            testDescription = name
            self.fields = fields
            play = {
                var world = FleetWorld(
                    seed: $0,
                    faults: 240,
                    goesBack: goesBack,
                    flaw: flaw,
                    change
                )
                world.run()
                return world
            }
        }

        static let withoutFence: @Sendable (inout MemoryFleet) -> Void = {
            $0.isFenced = false
            $0.comparesRows = false
        }

        static let all = [
            Control("early acknowledgements", finds: ["lost"], flaw: .acknowledgesEarly),
            Control("no fence", finds: ["acceptedTwice"], withoutFence),
            Control("no fence, for schedules", finds: ["servedTwice"], withoutFence),
            Control("forgotten memories", finds: ["gaps"], flaw: .forgetsMemories),
            Control("epochs from 1", finds: ["oldEpochs"], flaw: .ignoresEpochs),
            Control("runs that go on", finds: ["overlaps"], flaw: .keepsExclusiveRuns),
            Control("no fence, but a comparison of rows", finds: ["drifts"]) {
                $0.isFenced = false
            },
            Control("starts after the lease", finds: ["lateStarts"], flaw: .ignoresLease),
            Control("starts without ownership", finds: ["foreignStarts"], flaw: .ignoresLease),
            Control(
                "no nonces",
                finds: ["drifts", "acceptedTwice", "servedTwice"],
                goesBack: true
            ) { $0.comparesNonces = false },
        ]
    }

    /// The judge can find what it must find.
    @Test(arguments: Control.all)
    func `The judge finds an error`(control: Control) {
        // One history may show it or not.
        for seed in SeededGenerator.seeds(12) {
            let found = control.play(seed).verdict.counts
            if control.fields.contains(where: { found[$0] ?? 0 > 0 }) { return }
        }
        Issue.record("none of \(control.fields) in any history")
    }

    @Test func `Each part of the verdict has an error that it finds`() {
        #expect(
            Set(Control.all.flatMap(\.fields)) == Set(FleetJudge.Verdict().counts.keys)
        )
    }

    @Test(arguments: SeededGenerator.seeds(3))
    func `A fleet without a fault shares its work`(seed: UInt64) {
        var world = FleetWorld(seed: seed, faults: 0)
        world.run()
        #expect(world.verdict == FleetJudge.Verdict(), "seed \(seed)")
        let owners = (0..<FleetWorld.partitions).map {
            world.fleet.owner(of: PartitionID(number: $0))
        }
        #expect(!owners.contains(nil), "seed \(seed)")
        // Shares are rounded up, so the last host of a fleet with few partitions may get none.
        let slots = world.hosts.map(\.slots)
        for host in world.hosts {
            let share = PartitionShare.share(
                partitions: Int(FleetWorld.partitions),
                slots: host.slots,
                among: slots
            )
            let owned = owners.count { $0 == host.name }
            #expect(owned <= share && owned > share - slots.count, "seed \(seed)")
        }
    }

    /// The same seed leads to the same history; otherwise a failing seed shows nothing.
    @Test func `A history is repeatable`() {
        let runs = (0..<2).map { _ in
            var world = FleetWorld(seed: 7, faults: 120)
            world.run()
            return world.fleet.runs
        }
        #expect(runs[0] == runs[1] && runs[0].count > 100)
    }
}
