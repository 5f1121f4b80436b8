// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy
@testable import BghostStore
import BghostTestSupport
import Testing

/// What the store keeps of a run besides its row.
@Suite(.ownThreads) struct RunDetailTests {
    private func life(_ record: RunRecord) -> [StoreChange] {
        var begun = record
        (begun.state, begun.outcome, begun.endedAt, begun.details) = (.starting, nil, nil, nil)
        let request = Request(
            id: record.request,
            task: record.task,
            parameters: "{}",
            submittedAt: 0,
            priority: 0
        )
        return [
            .accepted(request, replacing: nil), .runStarted(begun),
            .runEnded(record, then: .consumed),
        ]
    }

    @Test(.timeLimit(.minutes(5)))
    func `Details come back, also after a restart`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        for round in 1...2 {
            let store = StoreConformance(store: try SQLiteStore(path: path))
            _ = try store.store.recover()
            let record = Sample.detailedRecord(round, request: 100 + round)
            try await store.commit(life(record))
            for number in 1...round {
                let id = Sample.id(number)
                let stored = try #require(
                    store.store.runs(idPrefix: id.description, limit: 1).first
                )
                #expect(stored.kind == .processing)
                #expect(stored.origin == record.origin)
                #expect(stored.details?.crash == record.details?.crash)
                #expect(stored.details?.error == record.details?.error)
                // A list of runs does not read what they printed.
                #expect(stored.details?.output == "")
                #expect(store.store.output(ofRun: id) == "one\ntwo é\n")
            }
            store.store.close()
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A run without details costs no row but its own`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let store = StoreConformance(store: try SQLiteStore(path: path))
        for number in 1...5 { try await store.commit(Sample.wholeLife(number)) }
        store.store.close()
        let count = try Command.run([
            "sqlite3", path,
            """
            SELECT (SELECT count(*) FROM output), (SELECT count(*) FROM origin),
            (SELECT count(*) FROM run WHERE source IS NULL AND crash IS NULL AND output IS NULL)
            """,
        ])
        #expect(count.output == "0|0|5\n", "\(count)")
    }

    @Test(.timeLimit(.minutes(5)))
    func `Runs of the same code share one origin, and there are never too many`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let store = StoreConformance(store: try SQLiteStore(path: path))
        var changes: [StoreChange] = []
        for number in 1...100 {
            changes += life(Sample.detailedRecord(number, request: 1000 + number))
        }
        try await store.commit(changes)
        changes = []
        for number in 101...(100 + RunOrigin.keptMax + 50) {
            changes += life(
                Sample.detailedRecord(number, request: 100_000 + number, version: "\(number)")
            )
        }
        try await store.commit(changes)
        store.store.close()
        let count = try Command.run(["sqlite3", path, "SELECT count(*) FROM origin"])
        #expect(count.output == "\(RunOrigin.keptMax)\n", "\(count)")
    }
}
