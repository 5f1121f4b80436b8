// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostDispatch
import BghostModel
import BghostPolicy
import Testing

/// What stored checkpoints count against the limits of plugins.
@Suite struct CheckpointLedgerTests {
    private func id(_ number: UInt64) -> RunID { RunID(high: 1, low: number) }

    private func run(_ request: UInt64, _ plugin: String = "a") -> RunRecord {
        RunRecord(
            id: RunID(high: 2, low: request),
            request: id(request),
            task: "t",
            plugin: plugin,
            limits: RunLimits(kind: .refresh),
            submittedAt: 0
        )
    }

    private func saved(_ request: UInt64, _ length: Int, _ plugin: String = "a") -> StoreChange {
        let about = CheckpointSummary(of: run(request, plugin), length: length, now: 0)
        return .checkpointSaved(Checkpoint(about, [UInt8](repeating: 0, count: length)))
    }

    private func store(_ changes: [StoreChange], in ledger: inout CheckpointLedger) {
        ledger.begin(changes)
        ledger.finish(changes, areStored: true)
    }

    private func cost(_ lengths: Int...) -> Int {
        lengths.reduce(0) { $0 + $1 + Checkpoint.overheadBytes }
    }

    @Test func `Each plugin has the sum of its newest checkpoints`() {
        var ledger = CheckpointLedger()
        store([saved(1, 100), saved(2, 50), saved(3, 7, "b")], in: &ledger)
        #expect(ledger.bytes(ofPlugin: "a") == cost(100, 50))
        #expect(ledger.bytes(ofPlugin: "b") == cost(7) && ledger.count == 3)
        store([saved(1, 10)], in: &ledger)
        #expect(ledger.bytes(ofPlugin: "a") == cost(10, 50))
        // The task belongs to another plugin now.
        store([saved(2, 50, "b")], in: &ledger)
        #expect(ledger.bytes(ofPlugin: "a") == cost(10))
        #expect(ledger.bytes(ofPlugin: "b") == cost(7, 50) && ledger.count == 3)
    }

    @Test func `A checkpoint counts until its request ends`() {
        let request = Request(
            id: id(1),
            task: "t",
            parameters: "{}",
            submittedAt: 0,
            priority: 500
        )
        let ends: [StoreChange] = [
            .closed(id(1), .cancelled), .discarded(id(1)), .checkpointDeleted(id(1)),
            .accepted(request, replacing: id(1)), .runEnded(run(1), then: .consumed),
        ]
        for end in ends {
            var ledger = CheckpointLedger()
            store([saved(1, 9)], in: &ledger)
            ledger.follow([
                .runEnded(run(1), then: .again(request)),
                .runEnded(run(1), then: .dead(request, reason: "")), .redriven(request),
                .moved(request), .accepted(request, replacing: nil), .closed(id(2), .cancelled),
            ])
            #expect(ledger.has(id(1)))
            ledger.follow([end])
            #expect(!ledger.has(id(1)) && ledger.bytes(ofPlugin: "a") == 0, "\(end)")
        }
    }

    @Test func `A save whose result comes after the end of its request does not count`() {
        var ledger = CheckpointLedger()
        let saves = [[saved(1, 9)], [saved(1, 8)]]
        for save in saves { ledger.begin(save) }
        ledger.finish(saves[0], areStored: true)
        #expect(ledger.bytes(ofPlugin: "a") == cost(9))
        ledger.follow([.runEnded(run(1), then: .consumed)])
        ledger.finish(saves[1], areStored: true)
        #expect(ledger.count == 0 && ledger.bytes(ofPlugin: "a") == 0)
        // What ended is forgotten with its last save.
        store([saved(1, 7)], in: &ledger)
        #expect(ledger.bytes(ofPlugin: "a") == cost(7))
    }

    @Test
    func `A refused save changes nothing, and a deletion between two saves ends none`() {
        var ledger = CheckpointLedger()
        store([saved(1, 9)], in: &ledger)
        ledger.begin([saved(1, 100)])
        ledger.finish([saved(1, 100)], areStored: false)
        #expect(ledger.bytes(ofPlugin: "a") == cost(9))
        ledger.begin([saved(1, 5)])
        ledger.begin([.checkpointDeleted(id(1))])
        ledger.begin([saved(1, 6)])
        ledger.finish([saved(1, 5)], areStored: true)
        ledger.finish([.checkpointDeleted(id(1))], areStored: true)
        #expect(ledger.count == 0)
        ledger.finish([saved(1, 6)], areStored: true)
        #expect(ledger.bytes(ofPlugin: "a") == cost(6))
    }

    @Test func `A change looks at its own request, however many checkpoints are stored`() {
        var ledger = CheckpointLedger(
            (0..<100_000).map { CheckpointSummary(of: run($0), length: 1, now: 0) }
        )
        let before = ledger.entriesVisited
        for request in 0..<100 as Range<UInt64> {
            store([saved(request, 9)], in: &ledger)
            ledger.follow([.runEnded(run(request), then: .consumed)])
        }
        #expect(ledger.count == 99_900)
        #expect(ledger.entriesVisited - before <= 400, "\(ledger.entriesVisited - before)")
    }

    @Test func `A restart counts what is stored`() {
        let stored = [
            CheckpointSummary(of: run(1), length: 5, now: 0),
            CheckpointSummary(of: run(2), length: 6, now: 0),
        ]
        let ledger = CheckpointLedger(stored)
        #expect(ledger.count == 2 && ledger.bytes(ofPlugin: "a") == cost(5, 6))
    }
}
