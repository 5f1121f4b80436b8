// SPDX-License-Identifier: Apache-2.0

@testable import BghostStore
import BghostTestSupport
import Glibc
import Testing

/// The number of each start is above all earlier ones, as servers that compare epochs need it.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct IncarnationTests {
    private let folder: TemporaryDirectory
    private let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.file("state.db")
    }

    /// - Returns: the number of the start.
    private func start() throws -> UInt32 {
        let store = try SQLiteStore(path: path)
        defer { store.close() }
        return try store.recover().incarnation
    }

    @Test func `An older copy in the place of the store counts on`() throws {
        let first = try start()
        let store = try SQLiteStore(path: path)
        let copy = folder.file("copy.db")
        try store.backup(to: copy)
        store.close()
        var last = first
        for _ in 0..<3 {
            let next = try start()
            #expect(next > last)
            last = next
        }
        try StoreCopy.prepare(store: copy)
        #expect(rename(copy, path) == 0)
        let restored = try start()
        #expect(restored > last)
        #expect(try start() > restored)
    }

    @Test func `The lock file of an earlier version has no number`() throws {
        let first = try start()
        let line = try File.read(path + "-lock").prefix(96)
        try File.write(Array(line), to: path + "-lock")
        #expect(try start() == first + 1)
        // A damaged number does not count either.
        var lock = try File.read(path + "-lock")
        lock[96 + 15] ^= 1
        try File.write(lock, to: path + "-lock")
        #expect(try start() == first + 2)
    }

    @Test func `A copy of another host goes on from the hour`() throws {
        let hour: Int64 = 3_600_000_000_000
        func next(_ stored: UInt32, _ locked: UInt32, hours: Int64) -> UInt32 {
            Incarnation.next(after: stored, locked: locked, now: hours * hour + 1)
        }
        #expect(next(0, 0, hours: 497_000) == 497_000)
        #expect(next(497_003, 0, hours: 497_001) == 497_004)
        #expect(next(497_003, 497_010, hours: 497_001) == 497_011)
        // A clock that is wrong leaves the epochs exact in JSON, and never takes the number back.
        #expect(next(5, 0, hours: 2_500_000) == 1 << 21 - 1)
        #expect(next(5, 0, hours: -7) == 6)
        #expect(next(5, .max, hours: 1) == .max)
    }

    @Test(arguments: [-1, 1 << 32 - 1, .max, .min] as [Int64])
    func `A number that is out of range is refused`(stored: Int64) throws {
        _ = try start()
        let change = try Command.run(["sqlite3", path, "UPDATE meta SET incarnation = \(stored)"])
        try #require(change.exitCode == 0, "\(change)")
        let error = #expect(throws: StoreError.self) { try start() }
        #expect(error?.kind == .corrupt, "\(error?.message ?? "")")
    }
}
