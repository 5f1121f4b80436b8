// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy
import BghostStore
import Testing

extension StoreConformance {
    static let checkpointChecks: [Check] = [
        Check("keeps a checkpoint over attempts, until the request ends") {
            try await $0.keepsCheckpoint()
        },
        Check("a checkpoint counts only under its lease") { try await $0.fencesCheckpoints() },
        Check("a checkpoint goes with a request that ends without a run") {
            try await $0.endsCheckpoint()
        },
        Check("finds checkpoints by the beginnings of ids") { try await $0.namesCheckpoints() },
        Check("lists checkpoints in pages, the newest request first") {
            try await $0.pagesCheckpoints()
        },
    ]

    private func checkpoint(
        _ text: String,
        _ run: Int = 101,
        epoch: UInt64 = 5,
        request: Int = 1
    ) -> Checkpoint {
        let record = Sample.begun(run, request: request, epoch: epoch)
        let bytes = Array(text.utf8)
        return Checkpoint(CheckpointSummary(of: record, length: bytes.count, now: 77), bytes)
    }

    private func stored(_ request: Int = 1) -> String? {
        guard case .found(let found) = store.checkpoint(ofRequest: Sample.id(request)) else {
            return nil
        }
        return String(decoding: found.bytes, as: UTF8.self)
    }

    /// A request in its first run.
    private func begin(_ request: Int = 1) async throws {
        try await commit(
            .accepted(Sample.request(request), replacing: nil),
            .runStarted(Sample.begun(100 + request, request: request, epoch: 5))
        )
    }

    private func end(
        _ next: AfterRun,
        _ run: Int = 101,
        epoch: UInt64 = 5,
        request: Int = 1
    ) async throws {
        try await commit(
            .runEnded(Sample.ended(run, request: request, epoch: epoch), then: next)
        )
    }

    func keepsCheckpoint() async throws {
        #expect(store.checkpoint(ofRequest: Sample.id(1)) == .none)
        try await begin()
        let first = checkpoint("one")
        try await commit(.checkpointSaved(first))
        #expect(store.checkpoint(ofRequest: Sample.id(1)) == .found(first))
        try await commit(.checkpointSaved(checkpoint("two")))
        try await end(.again(Sample.request(1)))
        #expect(stored() == "two")
        #expect(try store.recover().checkpoints == [checkpoint("two").about])
        try await commit(.moved(Sample.request(1)))
        #expect(stored() == "two")
        try await commit(.runStarted(Sample.begun(102, request: 1, epoch: 6)))
        try await end(.dead(Sample.request(1), reason: "why"), 102, epoch: 6)
        try await commit(.redriven(Sample.request(1)))
        #expect(stored() == "two")
        try await commit(.runStarted(Sample.begun(103, request: 1, epoch: 7)))
        try await end(.consumed, 103, epoch: 7)
        #expect(stored() == nil)
        #expect(try store.recover().checkpoints.isEmpty)
    }

    func fencesCheckpoints() async throws {
        try await commit(.accepted(Sample.request(1), replacing: nil))
        try await commit(.checkpointSaved(checkpoint("pending")))
        #expect(stored() == nil)
        try await commit(.runStarted(Sample.begun(101, request: 1, epoch: 5)))
        try await commit(.checkpointSaved(checkpoint("epoch", epoch: 4)))
        try await commit(.checkpointSaved(checkpoint("run", 102)))
        #expect(stored() == nil)
        try await commit(.checkpointSaved(checkpoint("own")))
        // Begins, saves and ends in one transaction, as the store may join several.
        try await commit(
            .runEnded(Sample.ended(101, request: 1, epoch: 5), then: .again(Sample.request(1))),
            .runStarted(Sample.begun(102, request: 1, epoch: 6)),
            .checkpointSaved(checkpoint("late", 101)),
            .checkpointSaved(checkpoint("newer", 102, epoch: 6))
        )
        #expect(stored() == "newer")
        try await commit(.checkpointSaved(checkpoint("later", 101)))
        #expect(stored() == "newer")
        try await end(.consumed, 102, epoch: 6)
        try await commit(.checkpointSaved(checkpoint("last", 102, epoch: 6)))
        #expect(stored() == nil)
    }

    func endsCheckpoint() async throws {
        for request: Int in 1...4 {
            try await begin(request)
            try await commit(.checkpointSaved(checkpoint("a", 100 + request, request: request)))
        }
        for request: Int in 1...3 {
            try await end(.again(Sample.request(request)), 100 + request, request: request)
        }
        try await end(.dead(Sample.request(4), reason: ""), 104, request: 4)
        try await commit(.closed(Sample.id(1), .cancelled))
        try await commit(.accepted(Sample.request(9), replacing: Sample.id(2)))
        try await commit(.checkpointDeleted(Sample.id(3)))
        try await commit(.discarded(Sample.id(4)))
        #expect((1...4).allSatisfy { stored($0) == nil })
        #expect(try pending().map(\.id) == [Sample.id(3), Sample.id(9)])
    }

    func namesCheckpoints() async throws {
        for request: Int in 1...3 {
            try await begin(request)
            try await commit(.checkpointSaved(checkpoint("a", 100 + request, request: request)))
        }
        let all = store.checkpoints(idPrefix: "", limit: 9)
        #expect(all.map(\.request) == (1...3).map { Sample.id($0) })
        #expect(store.checkpoints(idPrefix: "", limit: 2).count == 2)
        let one = Sample.id(2).description.lowercased()
        #expect(store.checkpoints(idPrefix: one, limit: 9).map(\.request) == [Sample.id(2)])
        #expect(store.checkpoints(idPrefix: "no id", limit: 9).isEmpty)
    }

    func pagesCheckpoints() async throws {
        #expect(store.checkpoints(CheckpointQuery(limit: 9)) == CheckpointPage())
        for request: Int in 1...5 {
            try await begin(request)
            var saved = checkpoint("a", 100 + request, request: request)
            if request == 4 { (saved.about.task, saved.about.plugin) = ("other.task", "other") }
            try await commit(.checkpointSaved(saved))
        }
        func expect(_ page: CheckpointPage, _ numbers: [Int], next: Int?) {
            #expect(page.checkpoints.map(\.request) == numbers.map { Sample.id($0) })
            #expect(page.next == next.map { Sample.id($0) })
        }
        func list(
            _ limit: Int,
            after: Int? = nil,
            tasks: TaskFilter? = nil,
            plugin: String? = nil
        ) -> CheckpointPage {
            let place = after.map { Sample.id($0) }
            let query = CheckpointQuery(tasks: tasks, plugin: plugin, after: place, limit: limit)
            return store.checkpoints(query)
        }
        expect(list(9), [5, 4, 3, 2, 1], next: nil)
        expect(list(2), [5, 4], next: 4)
        expect(list(2, after: 4), [3, 2], next: 2)
        // A checkpoint that is deleted between two pages moves no other.
        try await commit(.checkpointDeleted(Sample.id(2)))
        expect(list(2, after: 2), [1], next: nil)
        expect(list(9, tasks: .task("other.task")), [4], next: nil)
        expect(list(9, tasks: .beginning("other.")), [4], next: nil)
        expect(list(1, plugin: "other"), [4], next: nil)
        expect(list(2, plugin: "p"), [5, 3], next: 3)
        expect(list(9, tasks: .task("nosuch")), [], next: nil)
        expect(list(0), [], next: nil)
        let about = store.checkpoints(CheckpointQuery(limit: 1)).checkpoints.first
        #expect(about == checkpoint("a", 105, request: 5).about)
    }
}
