// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
@testable import BghostPolicy
@testable import BghostSimulation
import BghostTestSupport
import Testing

/// A daemon that dies anywhere in a chain loses no follower and doubles none.
@Suite struct ChainCrashTests {
    private static func world() -> World {
        var tasks = ["a", "b", "c", "d"].map { World.task($0) }
        tasks[0].then = [TaskFollower(task: "b"), TaskFollower(task: "d", onConflict: .keep)]
        tasks[1].then = [TaskFollower(task: "c", takesResult: true)]
        return World(seed: 5, tasks: tasks, keepsTransactions: true)
    }

    private static func successes(_ transactions: [[StoreChange]]) -> [String] {
        transactions.joined().compactMap { change in
            guard case .runEnded(let record, _) = change, record.outcome == .succeeded else {
                return nil
            }
            return record.task
        }.sorted()
    }

    @Test func `Each task of a chain succeeds once, wherever the daemon dies`() throws {
        var whole = Self.world()
        let before = whole.simulation.transactions.count
        try whole.simulation.submit(Submission(task: "a"))
        whole.simulation.run(for: World.hour)
        let all = whole.simulation.transactions.map(\.changes)
        #expect(Self.successes(all) == ["a", "b", "c", "d"])
        // From the submission on, which was answered.
        for cut in before + 1...all.count {
            var ledger = Ledger()
            ledger.open()
            let kept = Array(all[..<cut])
            for change in kept.joined() { try ledger.apply(change, now: World.start) }
            var world = Self.world()
            let others = world.simulation.transactions.count
            world.simulation.restart(from: ledger, downtime: World.second)
            world.simulation.run(for: World.hour)
            let later = world.simulation.transactions[others...].map(\.changes)
            let found = Self.successes(kept + later)
            #expect(found == ["a", "b", "c", "d"], "\(cut) of \(all.count) transactions")
            #expect(world.simulation.faults.isEmpty, "\(world.simulation.faults)")
            #expect(world.simulation.ledger.pending.isEmpty)
        }
        #expect(all.count - before >= 8)
    }
}
