// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy
@testable import BghostStore
import BghostTestSupport
import Testing

/// Pages of long tables: what they read, and what is not committed yet.
@Suite(.ownThreads) struct PageBoundTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func withStore(_ body: (SQLiteStore) async throws -> Void) async throws {
        let store = try SQLiteStore(path: folder.file("state.db"))
        defer { store.close() }
        _ = try store.recover()
        try await body(store)
    }

    private func commit(_ store: SQLiteStore, _ changes: [StoreChange]) async throws {
        try await withCheckedThrowingContinuation { continuation in
            store.commit(changes) { continuation.resume(with: $0) }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A search without a hit stops after 20,000 rows and continues there`() async throws {
        try await withStore { store in
            var changes: [StoreChange] = []
            for number in 0..<20_100 {
                let task = number == 0 ? "rare" : "t"
                let request = Sample.request(number, task: task)
                var record = Sample.ended(100_000 + number, request: number, task: task)
                record.endedAt = 7
                changes += [
                    .accepted(request, replacing: nil),
                    .runStarted(Sample.begun(100_000 + number, request: number, task: task)),
                    .runEnded(record, then: .dead(request, reason: "")),
                    .startSkipped(SkippedStart(task: task, kind: .late, due: 7, until: 8)),
                ]
            }
            try await commit(store, changes)
            let first = store.deadLetters(DeadLetterQuery(tasks: .beginning("ra"), limit: 5))
            #expect(first.letters.isEmpty)
            #expect(first.next?.run == Sample.id(100_100))
            let second = store.deadLetters(
                DeadLetterQuery(tasks: .beginning("ra"), after: first.next, limit: 5)
            )
            #expect(second.letters.map(\.request.task) == ["rare"] && second.next == nil)

            // All are due at once, so that only the row numbers tell them apart.
            let starts = store.skippedStarts(SkippedStartQuery(tasks: .beginning("ra"), limit: 5))
            #expect(starts.starts.isEmpty && starts.next?.due == 7)
            let rest = store.skippedStarts(
                SkippedStartQuery(tasks: .beginning("ra"), after: starts.next, limit: 5)
            )
            #expect(rest.starts.map(\.task) == ["rare"] && rest.next == nil)
            // By the index of the task, without a search.
            let one = store.skippedStarts(SkippedStartQuery(tasks: .task("rare"), limit: 5))
            #expect(one.starts.count == 1 && one.next == nil)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A search for checkpoints without a hit stops after 20,000 rows and continues there`()
        async throws
    {
        try await withStore { store in
            var changes: [StoreChange] = []
            for number in 0..<20_010 {
                let task = number < 2 ? "rare" : "t"
                let run = Sample.begun(100_000 + number, request: number, task: task)
                changes += [
                    .accepted(Sample.request(number, task: task), replacing: nil),
                    .runStarted(run),
                    .checkpointSaved(
                        Checkpoint(CheckpointSummary(of: run, length: 1, now: 7), [1])
                    ),
                ]
            }
            try await commit(store, changes)
            let rare = TaskFilter.beginning("ra")
            let first = store.checkpoints(CheckpointQuery(tasks: rare, limit: 1))
            #expect(first.checkpoints.isEmpty && first.next == Sample.id(10))
            let second = store.checkpoints(
                CheckpointQuery(tasks: rare, after: first.next, limit: 1)
            )
            #expect(second.checkpoints.map(\.request) == [Sample.id(1)])
            #expect(second.next == Sample.id(1))
            let last = store.checkpoints(
                CheckpointQuery(tasks: rare, after: second.next, limit: 1)
            )
            #expect(last.checkpoints.map(\.request) == [Sample.id(0)] && last.next == nil)
        }
    }

    @Test func `Starts that are not committed are on pages too, each once`() {
        func start(_ number: Int) -> SkippedStart {
            SkippedStart(task: "t", kind: .late, due: 7, until: Int64(number))
        }
        let uncommitted = Uncommitted(changes: (0..<10).map { .startSkipped(start($0)) })
        var query = SkippedStartQuery(limit: 3)
        var found: [SkippedStart] = []
        for _ in 0..<10 {
            let page = SkippedStartPage(uncommitted.skippedStarts(query), end: nil, limit: 3)
            found += page.starts
            guard let next = page.next else { break }
            query.after = next
        }
        #expect(found == (0..<10).reversed().map(start))
    }
}
