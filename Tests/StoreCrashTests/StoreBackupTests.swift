// SPDX-License-Identifier: Apache-2.0

@testable import BghostStore
import BghostTestSupport
import Glibc
import StoreScript
import Synchronization
import Testing

@Suite(.ownThreads) struct StoreBackupTests {
    let folder: TemporaryDirectory
    let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.file("state.db")
    }

    @Test(.timeLimit(.minutes(5))) func `Copies all that is committed`() throws {
        let store = try SQLiteStore(path: path)
        for number in 0..<100 { store.commit(StoreScript.list(number)) { _ in } }
        let copy = folder.file("copy.db")
        try store.backup(to: copy)
        for number in 100..<110 { store.commit(StoreScript.list(number)) { _ in } }
        store.close()

        let names = try File.list(folder.path).filter { $0.hasPrefix("copy") }
        #expect(names == ["copy.db"])
        var status = stat()
        #expect(stat(copy, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let other = try SQLiteStore(path: copy)
        #expect(try StoreModel(reading: other) == StoreModel(lists: 100))
        other.close()
    }

    /// The lock file tells of more than a copy holds, and the copy is taken nevertheless.
    @Test(.timeLimit(.minutes(5))) func `A copy may take the place of the store`() throws {
        let store = try SQLiteStore(path: path)
        store.commit(StoreScript.list(0)) { _ in }
        let copy = folder.file("copy.db")
        try store.backup(to: copy)
        store.commit(StoreScript.list(1)) { _ in }
        store.close()
        #expect(rename(copy, path) == 0)
        for _ in 1...2 {
            let store = try SQLiteStore(path: path)
            #expect(try StoreModel(reading: store) == StoreModel(lists: 1))
            store.close()
        }
    }

    @Test(.timeLimit(.minutes(5))) func `Copies while others commit`() throws {
        let store = try SQLiteStore(path: path)
        for number in 0..<3000 { store.commit(StoreScript.list(number)) { _ in } }
        for number in 0..<3 {
            for list in 0..<300 {
                store.commit(StoreScript.list(3000 + 300 * number + list)) { _ in }
            }
            let copy = folder.file("copy\(number).db")
            try store.backup(to: copy)
            let other = try SQLiteStore(path: copy)
            let found = try StoreModel(reading: other)
            #expect(found == StoreModel(lists: 3300 + 300 * number))
            other.close()
        }
        store.close()
    }

    private final class Progress: Sendable {
        private let state = Mutex((answered: 0, isOver: false))

        func answered(_ lists: Int) { state.withLock { $0.answered = lists } }

        func end() { state.withLock { $0.isOver = true } }

        var answered: Int { state.withLock { $0.answered } }

        var isOver: Bool { state.withLock { $0.isOver } }
    }

    /// A copy that is made while others commit all the time is one moment of the store: nothing that
    /// was answered before is missing, and no list is there in part.
    @Test(.timeLimit(.minutes(5))) func `A copy under load is one moment`() async throws {
        let store = try SQLiteStore(path: path)
        let progress = Progress()
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let writing = Task.detached {
            var number = 0
            while !progress.isOver {
                for _ in 0..<16 {
                    let list = number
                    store.commit(StoreScript.list(list), isAwaited: false) { _ in
                        progress.answered(list + 1)
                    }
                    number += 1
                }
                await withCheckedContinuation { continuation in
                    store.commit([]) { _ in continuation.resume() }
                }
                beginning.yield()
            }
        }
        for await _ in begun { break }
        for round in 0..<5 {
            let before = progress.answered
            let copy = folder.file("copy\(round).db")
            try store.backup(to: copy)
            let other = try SQLiteStore(path: copy)
            let found = try StoreModel(reading: other)
            other.close()
            #expect(found == StoreModel(lists: found.lists))
            #expect(found.lists >= before, "\(before - found.lists) lists are missing")
        }
        progress.end()
        await writing.value
        #expect(progress.answered > 0)
        store.close()
    }

    @Test(.timeLimit(.minutes(5))) func `Writes over nothing`() throws {
        let store = try SQLiteStore(path: path)
        defer { store.close() }
        try folder.write("mine", to: "copy.db")
        #expect(symlink("/nowhere/at-all", folder.file("link")) == 0)
        for name in ["copy.db", "state.db", "link", "."] {
            #expect(throws: StoreError.self) { try store.backup(to: folder.file(name)) }
        }
        #expect(try File.read(folder.file("copy.db")) == Array("mine".utf8))
        let error = #expect(throws: StoreError.self) {
            try store.backup(to: folder.file("no/such/copy.db"))
        }
        #expect(error?.message.contains("no/such/copy.db") == true)
        // And the store continues.
        store.commit(StoreScript.list(0)) { _ in }
        #expect(try store.recover().pending.count == 3)
    }
}
