// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy
@testable import BghostStore
import BghostTestSupport
import Testing

/// The newest runs of very many tasks, for `status`.
@Suite(.ownThreads) struct LastRunsTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private static func changes(_ run: Int, task: String) -> [StoreChange] {
        let request = Sample.request(run, task: task)
        return [
            .accepted(request, replacing: nil),
            .runStarted(Sample.begun(100_000 + run, request: run, task: task)),
            .runEnded(
                Sample.ended(100_000 + run, request: run, task: task),
                then: .consumed
            ),
        ]
    }

    @Test(.timeLimit(.minutes(5)))
    func `One statement for 256 tasks finds their runs without reading others`() async throws {
        let store = try SQLiteStore(path: folder.file("state.db"))
        defer { store.close() }
        _ = try store.recover()
        let tasks = (0..<10_000).map { "task.\($0)" }
        var changes: [StoreChange] = []
        for (number, task) in tasks.enumerated() {
            changes += Self.changes(number, task: task) + Self.changes(20_000 + number, task: task)
        }
        // One task has most of the runs.
        for number in 50_000..<60_000 { changes += Self.changes(number, task: "busy") }
        try await withCheckedThrowingContinuation { continuation in
            store.commit(changes) { continuation.resume(with: $0) }
        }
        let before = store.answer((0, 0)) { reader, _ in reader.lastRuns.work }
        let last = store.lastRuns(tasks: tasks + ["busy", "absent"])
        let after = store.answer((0, 0)) { reader, _ in reader.lastRuns.work }
        #expect(last.count == 10_001)
        #expect(last["busy"]?.id == Sample.id(159_999))
        #expect(
            tasks.enumerated().allSatisfy { last[$1]?.id == Sample.id(120_000 + $0) }
        )
        let most = 10_002 / SQLiteStore.lastRunsMax + 1
        #expect(after.0 - before.0 == most)
        // The names of the tasks may be read one after the other, but not the 30,000 runs.
        #expect(after.1 - before.1 <= most * SQLiteStore.lastRunsMax)
    }
}
