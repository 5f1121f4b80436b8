// SPDX-License-Identifier: Apache-2.0

import BghostModel
import BghostPolicy
@testable import BghostStore
import BghostTestSupport
import Glibc
import Testing

/// Numbers that no daemon writes, in rows with the right checksum, are damage, and never end the daemon.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct NumberRangeTests {
    private let folder: TemporaryDirectory
    private let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.file("state.db")
    }

    private func fill(_ changes: StoreChange...) async throws {
        let store = StoreConformance(store: try SQLiteStore(path: path))
        try await store.commit(changes)
        store.store.close()
    }

    private func refuse(_ text: String) {
        let error = #expect(throws: StoreError.self) {
            let store = try SQLiteStore(path: path)
            defer { store.close() }
            _ = try store.recover()
        }
        #expect(error?.kind == .corrupt)
        #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [Int.max, .min, -1, 1 << 41])
    func `A request with an impossible count is refused`(count: Int) async throws {
        let counters = [
            AttemptCounters(failures: count, losses: 0, interruptions: 0),
            AttemptCounters(failures: 0, losses: count, interruptions: 0),
            AttemptCounters(failures: 0, losses: 0, interruptions: count),
        ]
        for counters in counters {
            var request = Sample.request(1)
            request.counters = counters
            try await fill(.accepted(request, replacing: nil))
            refuse("of a request have the impossible count \(count)")
            for suffix in ["", "-lock"] { #expect(unlink(path + suffix) == 0) }
        }
    }

    @Test(arguments: [Int.max, .min])
    func `A checkpoint with an impossible length is refused`(length: Int) async throws {
        let begun = Sample.begun(1, request: 1)
        try await fill(
            .accepted(Sample.request(1), replacing: nil),
            .runStarted(begun),
            .checkpointSaved(
                Checkpoint(CheckpointSummary(of: begun, length: length, now: 7), [1])
            )
        )
        refuse("the bytes of a checkpoint have the impossible count \(length)")
    }

    @Test(arguments: [Int64.max, .min, -1])
    func `A line of the journal with an impossible number is refused`(number: Int64) throws {
        try SQLiteStore(path: path).close()
        try replaceJournal(by: number)
        refuse("the impossible number \(number)")
    }

    private func replaceJournal(by number: Int64) throws {
        let connection = try Connection(path: path, isReadOnly: false, pragmas: "")
        try connection.run("DELETE FROM journal")
        let insert = try Statement(
            "INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            on: connection
        )
        try insert.run { row in
            row.add(number)
            for _ in 0..<5 { row.add(0) }
            row.add([UInt8]())
            row.addSum()
        }
    }
}
