// SPDX-License-Identifier: Apache-2.0

@testable import BghostStore
import BghostTestSupport
import StoreScript
import Testing

/// A start that is killed at each of its calls until it answers: the next one goes on with what is stored.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct StoreStartTests {
    private let writer = Artifact.path("store-writer")
    private let tools: TemporaryDirectory
    private let library: KillingLibrary

    init() throws {
        tools = try TemporaryDirectory()
        library = try KillingLibrary(in: tools)
    }

    /// Kills the first start in a folder at each call.
    ///
    /// - Parameter prepare: puts what the start finds into the folder of the path.
    private func killFirstStart(_ prepare: (String) throws -> Void) throws {
        var call = 1
        while true {
            let folder = try TemporaryDirectory()
            let path = folder.file("state.db")
            try prepare(path)
            let result = try library.run([writer, "open", path], until: call)
            let answered = result.output.split(separator: "\n").count { $0 == "kept" }
            do {
                let store = try SQLiteStore(path: path) { Issue.record("\($0)") }
                defer { store.close() }
                let found = try StoreModel(reading: store)
                #expect(found == StoreModel(lists: found.lists), "killed at \(call)")
                #expect(found.lists >= answered, "killed at \(call)")
            } catch {
                Issue.record("killed at \(call): \(error)")
            }
            #expect(result.signal == 9, "\(result)")
            guard answered == 0, result.signal == 9 else { break }
            call += 1
        }
        #expect(call > 15)
    }

    @Test func `A new store opens after a kill at any call`() throws {
        try killFirstStart { _ in }
    }

    /// A store that has ten changes, and a copy of it from before them.
    private func olderCopy() throws -> StoreFiles {
        let path = tools.file("state.db")
        let store = try SQLiteStore(path: path)
        let copy = tools.file("copy.db")
        try store.backup(to: copy)
        for list in 0..<3 { store.commit(StoreScript.list(list)) { _ in } }
        store.close()
        var files = try StoreFiles(copying: path)
        files.database = try File.read(copy)
        return files
    }

    @Test(arguments: [false, true])
    func `A copy opens after a kill at any call`(isPrepared: Bool) throws {
        var files = try olderCopy()
        if isPrepared {
            let copy = tools.file("copy.db")
            try StoreCopy.prepare(store: copy)
            files.database = try File.read(copy)
        }
        // The versions for reading and writing: 2 with a -wal.
        #expect(files.database[18...19] == (isPrepared ? [2, 2] : [1, 1]))
        #expect(try File.list(tools.path).filter { $0.hasPrefix("copy.db") } == ["copy.db"])
        try killFirstStart { path in try files.write(to: path) }
    }

    /// The files that a kill leaves while a copy gets its -wal.
    private func filesWithJournal() throws -> (StoreFiles, journal: [UInt8]) {
        let files = try olderCopy()
        for call in 1...20 {
            let folder = try TemporaryDirectory()
            let path = folder.file("state.db")
            try files.write(to: path)
            _ = try library.run([writer, "open", path], until: call)
            let journal = try? File.read(path + "-journal")
            if let journal, journal.first ?? 0 != 0 {
                return (try StoreFiles(copying: path), journal)
            }
        }
        throw SystemCallError(call: "find a journal", code: 0)
    }

    /// As one that was left when another store took the place of its own.
    @Test func `The journal of another file is refused`() throws {
        let (files, journal) = try filesWithJournal()
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        var larger = files
        larger.database += Array(repeating: 0, count: 4096)
        for (files, log) in [(larger, []), (files, [1])] as [(StoreFiles, [UInt8])] {
            try files.write(to: path)
            try File.write(journal, to: path + "-journal")
            if !log.isEmpty { try File.write(log, to: path + "-wal") }
            let error = #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
            #expect(error?.kind == .corrupt)
            #expect(
                error?.message.contains("remove the -journal") == true,
                "\(error?.message ?? "")"
            )
            #expect(try File.read(path) == files.database)
            #expect(try File.read(path + "-journal") == journal)
        }
    }
}
