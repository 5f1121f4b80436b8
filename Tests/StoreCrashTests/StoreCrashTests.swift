// SPDX-License-Identifier: Apache-2.0

import BghostModel
import BghostPolicy
import BghostStore
import BghostTestSupport
import StoreScript
import Testing

/// Nothing that was answered may be missing, and no list may be there in part, however it ended.
@Suite(.ownThreads) struct StoreCrashTests {
    let folder: TemporaryDirectory
    let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.file("state.db")
    }

    @Test(.timeLimit(.minutes(12)), arguments: [1, 2, 3, 4])
    func `The store survives kills`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var kept = 0
        for round in 0..<30 {
            let delay = Int.random(in: 0..<20_000_000, using: &random)
            let writer = Artifact.path("store-writer")
            let result = try Command.run([writer, "commit", path, "\(kept)", "\(delay)"])
            #expect(result.signal == 9, "round \(round): \(result)")
            let answered = result.output.split(separator: "\n").compactMap { Int($0) }
            #expect(answered == Array(kept..<kept + answered.count), "out of order")

            let store = try SQLiteStore(path: path) { Issue.record("\($0)") }
            let found = try StoreModel(reading: store)
            store.close()
            #expect(found == StoreModel(lists: found.lists), "round \(round), delay \(delay)")
            #expect(
                found.lists >= kept + answered.count,
                "\(kept + answered.count - found.lists) lost in round \(round), delay \(delay)"
            )
            kept = found.lists
        }
        #expect(kept > 0)
    }

    /// Lists of the script in a WAL that was never copied.
    private func someFiles(lists: Int) throws -> StoreFiles {
        let store = try SQLiteStore(path: path)
        for number in 0..<lists {
            // One transaction for each.
            store.commit(StoreScript.list(number)) { _ in }
            _ = try store.recover()
        }
        let files = try StoreFiles(copying: path)
        store.close()
        return files
    }

    /// Where the frames of a WAL begin, and where the last one ends.
    private func boundaries(_ wal: [UInt8]) -> [Int] {
        Array(stride(from: 32, through: wal.count, by: 24 + 4096))
    }

    @Test(.timeLimit(.minutes(12))) func `A cut log is a prefix`() throws {
        let lists = 20
        let files = try someFiles(lists: lists)
        #expect(boundaries(files.wal).last == files.wal.count)
        let cuts = boundaries(files.wal).flatMap { [$0, $0 + 1, $0 + 2000] } + [0, 1, 31]
        var last = 0
        for cut in cuts.sorted() where cut <= files.wal.count {
            let folder = try TemporaryDirectory()
            let path = folder.file("state.db")
            var files = files
            files.wal.removeLast(files.wal.count - cut)
            // Without the lock file nothing tells that there was more.
            files.lock = []
            try files.write(to: path)
            do {
                let store = try SQLiteStore(path: path)
                let found = try StoreModel(reading: store)
                store.close()
                #expect(found == StoreModel(lists: found.lists), "cut at \(cut)")
                #expect(found.lists >= last, "a longer log holds less, cut at \(cut)")
                last = found.lists
            } catch let error as StoreError {
                // The tables themselves may lie in the part that is gone.
                #expect(last == 0 && error.kind == .corrupt, "cut at \(cut): \(error)")
            }
        }
        #expect(last == lists)
    }

    /// A chain: each run ends in one transaction with the request that follows it.
    @Test(.timeLimit(.minutes(12)))
    func `A cut log has the end of a run and what follows it, or neither`() throws {
        let chains = 12
        let store = try SQLiteStore(path: path)
        for number in 0..<chains {
            var begun = StoreScript.run(number)
            (begun.state, begun.outcome) = (.starting, nil)
            var follower = StoreScript.request(1000 + number)
            follower.submitter = .predecessor(begun.id)
            for changes in [
                [.accepted(StoreScript.request(number), replacing: nil), .runStarted(begun)],
                [
                    .runEnded(StoreScript.run(number), then: .consumed),
                    .accepted(follower, replacing: nil),
                ],
            ] as [[StoreChange]] {
                store.commit(changes) { _ in }
                // One transaction for each.
                _ = try store.recover()
            }
        }
        let files = try StoreFiles(copying: path)
        store.close()
        var counts: Set<Int> = []
        for cut in boundaries(files.wal) {
            let folder = try TemporaryDirectory()
            let path = folder.file("state.db")
            var files = files
            files.wal.removeLast(files.wal.count - cut)
            // Without the lock file nothing tells that there was more.
            files.lock = []
            try files.write(to: path)
            do throws(StoreError) {
                let store = try SQLiteStore(path: path)
                let state = try store.recover()
                let ended = store.runs(task: nil, limit: 100).map(\.id)
                let followed = state.pending.compactMap(\.submitter.run)
                #expect(Set(followed) == Set(ended) && followed.count == ended.count, "\(cut)")
                counts.insert(ended.count)
                store.close()
            } catch {
                // The tables themselves may lie in the part that is gone.
                #expect(counts.isEmpty && error.kind == .corrupt, "cut at \(cut): \(error)")
            }
        }
        #expect(counts == Set(0...chains))
    }

    /// The log is cut where answered transactions lie: that is said, and nothing is touched.
    @Test(.timeLimit(.minutes(12))) func `Losing answered transactions is reported`() throws {
        let files = try someFiles(lists: 10)
        for cut in boundaries(files.wal).dropLast() {
            let folder = try TemporaryDirectory()
            let path = folder.file("state.db")
            var files = files
            files.wal.removeLast(files.wal.count - cut)
            try files.write(to: path)
            let error = #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
            #expect(error?.kind == .corrupt, "cut at \(cut): \(error?.message ?? "")")
            #expect(try File.read(path) == files.database)
            #expect(try File.read(path + "-wal") == files.wal)
        }
        // With the whole log it opens.
        let folder = try TemporaryDirectory()
        try files.write(to: folder.file("state.db"))
        let store = try SQLiteStore(path: folder.file("state.db"))
        #expect(try StoreModel(reading: store) == StoreModel(lists: 10))
        store.close()
    }

    @Test(.timeLimit(.minutes(12))) func `A flipped byte in the log is reported`() throws {
        let lists = 10
        let files = try someFiles(lists: lists)
        for offset in stride(from: 0, to: files.wal.count, by: files.wal.count / 150) {
            let folder = try TemporaryDirectory()
            let path = folder.file("state.db")
            var files = files
            files.wal[offset] ^= 0x41
            try files.write(to: path)
            do {
                let store = try SQLiteStore(path: path)
                #expect(try StoreModel(reading: store) == StoreModel(lists: lists), "at \(offset)")
                store.close()
            } catch let error as StoreError {
                #expect(error.kind == .corrupt, "at \(offset): \(error)")
                #expect(try File.read(path) == files.database)
            }
        }
    }

    /// A flipped byte is either seen at the opening, or lies where nothing is, or costs runs of the
    /// past and is reported.
    @Test(.timeLimit(.minutes(12)), arguments: [0x01, 0x80, 0xFF] as [UInt8])
    func `A flipped byte in the database is detected`(mask: UInt8) throws {
        let lists = 60
        let store = try SQLiteStore(path: path)
        for number in 0..<lists { store.commit(StoreScript.list(number)) { _ in } }
        store.close()
        let files = try StoreFiles(copying: path)
        let whole = StoreModel(lists: lists)
        var random = SeededGenerator(seed: UInt64(mask))
        let offsets =
            Array(0..<100)
            + (0..<100).map { _ in
                Int.random(in: 100..<files.database.count, using: &random)
            }
        var refusals = 0
        for offset in offsets {
            let folder = try TemporaryDirectory()
            let path = folder.file("state.db")
            var files = files
            files.database[offset] ^= mask
            try files.write(to: path)
            do throws(StoreError) {
                let store = try SQLiteStore(path: path)
                #expect(try store.recover().pending == whole.pending, "at \(offset)")
                for run in store.runs(task: nil, limit: 100) {
                    #expect(whole.runs.contains(run), "at \(offset)")
                }
                // A handler would begin from the start if there were none.
                for saved in whole.newestCheckpoints {
                    guard case .found(let checkpoint) = saved else { continue }
                    let found = store.checkpoint(ofRequest: checkpoint.about.request)
                    #expect(found == saved || found == .unreadable, "at \(offset)")
                }
                store.close()
            } catch {
                refusals += 1
                #expect(error.message.contains(path), "at \(offset): \(error)")
                #expect((try? File.read(path)) == files.database, "at \(offset)")
            }
        }
        #expect(refusals > 10)
    }
}
