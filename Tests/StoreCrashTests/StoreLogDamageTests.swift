// SPDX-License-Identifier: Apache-2.0

import BghostStore
import BghostTestSupport
import StoreScript
import Testing

/// A write-ahead log that was damaged after a power cut, which has taken the lock file's word with
/// it: nothing but the log itself tells what was there.
@Suite(.ownThreads) struct StoreLogDamageTests {
    private static let frame = 24 + 4096

    /// So many lists, each in a transaction of its own, in a log that was never copied.
    private func someFiles(lists: Int) throws -> StoreFiles {
        let folder = try TemporaryDirectory()
        let store = try SQLiteStore(path: folder.file("state.db"))
        for number in 0..<lists {
            store.commit(StoreScript.list(number)) { _ in }
            _ = try store.recover()
        }
        var files = try StoreFiles(copying: folder.file("state.db"))
        store.close()
        files.lock = []
        return files
    }

    /// Where each transaction ends.
    private func ends(_ wal: [UInt8]) -> [Int] {
        stride(from: 32, to: wal.count, by: Self.frame).filter { offset in
            wal[offset + 4..<offset + 8].contains { $0 != 0 }
        }.map { $0 + Self.frame }
    }

    @Test(.timeLimit(.minutes(5))) func `Damage before the last transaction is reported`() throws {
        let lists = 10
        let files = try someFiles(lists: lists)
        let ends = ends(files.wal)
        try #require(ends.count >= lists && ends.last == files.wal.count)
        let step = files.wal.count / 150
        for offset in stride(from: 0, to: files.wal.count, by: step) {
            let folder = try TemporaryDirectory()
            let path = folder.file("state.db")
            var damaged = files
            damaged.wal[offset] ^= 0x41
            try damaged.write(to: path)
            let isInLast = offset >= ends[ends.count - 2]
            do throws(StoreError) {
                let store = try SQLiteStore(path: path)
                let found = try store.recover().pending
                store.close()
                #expect(isInLast, "a flip at \(offset) was passed over")
                #expect(found == StoreModel(lists: lists - 1).pending)
            } catch {
                #expect(error.kind == .corrupt && !isInLast, "at \(offset): \(error)")
                #expect((try? File.read(path)) == damaged.database)
                #expect((try? File.read(path + "-wal")) == damaged.wal)
            }
        }
    }

    /// Frames of the transaction under way may reach the disk in any order: what is missing of it
    /// was never answered.
    @Test(.timeLimit(.minutes(5))) func `A torn last transaction is no damage`() throws {
        let lists = 7
        let files = try someFiles(lists: lists)
        let ends = ends(files.wal)
        let start = ends[ends.count - 2]
        for hole in stride(from: start, to: files.wal.count, by: Self.frame) {
            let folder = try TemporaryDirectory()
            let path = folder.file("state.db")
            var torn = files
            for index in hole..<hole + Self.frame { torn.wal[index] = 0 }
            try torn.write(to: path)
            // Twice: what was torn must not count at the next start either.
            for _ in 1...2 {
                let store = try SQLiteStore(path: path)
                #expect(try StoreModel(reading: store) == StoreModel(lists: lists - 1))
                store.close()
            }
        }
    }

    /// Each start begins a new log, so that what a torn transaction left behind is of no log.
    @Test(.timeLimit(.minutes(5))) func `A start begins a new log`() throws {
        let files = try someFiles(lists: 6)
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        try files.write(to: path)
        let store = try SQLiteStore(path: path)
        _ = try store.recover()
        let now = try StoreFiles(copying: path)
        #expect(now.wal.count < files.wal.count)
        #expect(now.wal[16..<24] != files.wal[16..<24])
        store.close()
    }

    /// A log of zeros is what a file system leaves of one that was never synced.
    @Test(.timeLimit(.minutes(5))) func `An empty log is no damage`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let store = try SQLiteStore(path: path)
        for number in 0..<4 { store.commit(StoreScript.list(number)) { _ in } }
        store.close()
        for bytes in [[], [UInt8](repeating: 0, count: 9000), [1, 2, 3]] as [[UInt8]] {
            try File.write(bytes, to: path + "-wal")
            let store = try SQLiteStore(path: path)
            #expect(try StoreModel(reading: store) == StoreModel(lists: 4))
            store.close()
        }
    }
}
