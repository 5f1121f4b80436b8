// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy
@testable import BghostStore
import BghostTestSupport
import StoreScript
import Testing

/// What a store holds after so many lists of the script.
struct StoreModel: Equatable {
    var lists: Int
    var pending: [Request]
    var runs: [RunRecord]
    /// The checkpoints, in the order of their requests.
    var checkpoints: [CheckpointSummary]
    /// The newest of them with their bytes.
    var newestCheckpoints: [StoredCheckpoint]

    private static let newest = 20

    /// What must be there after so many lists.
    init(lists: Int) {
        self.lists = lists
        let triples = (lists + 2) / 3
        pending = (0..<3 * triples).map { StoreScript.request($0) }.filter { request in
            let number = Int(request.id.low)
            let run = number - number % 3 + 1
            return switch number % 3 {
            case 0: lists <= run
            case 1: lists <= run + 1
            default: true
            }
        }
        runs = (0..<lists).reversed().compactMap { list in
            switch list % 3 {
            case 1: StoreScript.run(list - 1)
            case 2: StoreScript.failedRun(list)
            default: nil
            }
        }
        let saved = (0..<lists).filter { $0 % 3 == 2 }.map {
            StoreScript.checkpoint(of: StoreScript.failedRun($0))
        }
        checkpoints = saved.map(\.about)
        newestCheckpoints = saved.suffix(Self.newest).map { .found($0) }
    }

    /// What is there, by the number of lists that the audit has.
    init(reading store: SQLiteStore, lists: Int) throws {
        self.lists = lists
        let state = try store.recover()
        pending = state.pending
        runs = store.runs(task: nil, limit: 1_000_000)
        checkpoints = state.checkpoints.sorted { $0.request < $1.request }
        newestCheckpoints = checkpoints.suffix(Self.newest).map {
            store.checkpoint(ofRequest: $0.request)
        }
    }

    /// What is there.
    init(reading store: SQLiteStore) throws {
        let changes = Int(try store.changeCount())
        let lists = try #require(
            StoreScript.lists(changes),
            "a list was kept in part: \(changes) changes"
        )
        try self.init(reading: store, lists: lists)
    }
}

extension SQLiteStore {
    /// How many changes the tables stand for.
    func changeCount() throws -> Int64 {
        try open().ask { reader throws(SQLiteFailure) in
            try TableSizes(reading: reader.connection).journal.last
        }
    }
}

/// The files of a store that no process has open.
struct StoreFiles {
    var database: [UInt8]
    var wal: [UInt8]
    var lock: [UInt8]

    /// Copies those of a store that is in use: in a process of its own, because closing them here
    /// would take away the locks of SQLite.
    init(copying path: String) throws {
        let folder = try TemporaryDirectory()
        for suffix in ["", "-wal", "-lock"] {
            _ = try Command.run(["cp", path + suffix, folder.file("copy" + suffix)])
        }
        database = try File.read(folder.file("copy"))
        wal = (try? File.read(folder.file("copy-wal"))) ?? []
        lock = (try? File.read(folder.file("copy-lock"))) ?? []
    }

    func write(to path: String) throws {
        try File.write(database, to: path)
        if !wal.isEmpty { try File.write(wal, to: path + "-wal") }
        if !lock.isEmpty { try File.write(lock, to: path + "-lock") }
    }
}
