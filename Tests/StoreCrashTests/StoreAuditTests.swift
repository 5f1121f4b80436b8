// SPDX-License-Identifier: Apache-2.0

import BghostAudit
import BghostModel
import BghostStore
import BghostTestSupport
import StoreScript
import Testing

/// No change is without its row of the audit, and no row without its change, however the daemon ended.
@Suite(.ownThreads) struct StoreAuditTests {
    @Test(.timeLimit(.minutes(12)), arguments: [1, 2])
    func `A kill leaves neither a change nor a row alone`(seed: UInt64) throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        var random = SeededGenerator(seed: seed)
        var kept = 0
        var round = 0
        // 30 rounds, and on a machine that commits little in each as many as it takes.
        while round < 30 || kept <= 100 {
            defer { round += 1 }
            let delay = Int.random(in: 0..<20_000_000, using: &random)
            let writer = Artifact.path("store-writer")
            let result = try Command.run([writer, "audit", path, "\(kept)", "\(delay)"])
            #expect(result.signal == 9, "round \(round): \(result)")
            let answered = result.output.split(separator: "\n").compactMap { Int($0) }

            let store = try SQLiteStore(path: path) { Issue.record("\($0)") }
            var check = AuditCheck()
            while !check.isFinished, let next = store.advance(check) { check = next }
            #expect(check.verdict.firstBreak == nil, "round \(round): \(check.verdict)")
            let lists = Int(check.verdict.rows)
            // The rows are those of the first lists, and the tables hold these lists.
            var query = AuditQuery(limit: 1_000_000)
            query.after = 0
            var refs: [String] = []
            repeat {
                let page = store.audit(query)
                refs += page.rows.map(\.entry.refs)
                query.after = page.next
            } while query.after != nil
            #expect(refs == (0..<lists).map(String.init), "round \(round)")
            #expect(try StoreModel(reading: store, lists: lists) == StoreModel(lists: lists))
            // Each run that ended is in the sums of its day, once.
            let sums = store.runDays(RunDayQuery(limit: 1_000_000)).rows
            let ended = store.runs(task: nil, limit: 1_000_000).count
            #expect(sums.reduce(0) { $0 + Int($1.counts.all) } == ended, "round \(round)")
            #expect(lists >= kept + answered.count, "an answered change is lost in round \(round)")
            store.close()
            kept = lists
        }
        #expect(kept > 100)
    }
}
