// SPDX-License-Identifier: Apache-2.0

import BghostModel
@testable import BghostStore
import BghostTestSupport
import Glibc
import StoreScript
import Testing

/// A store that cannot write: it reports an error and leaves its files unchanged.
@Suite(.ownThreads) struct StoreRefusalTests {
    let folder: TemporaryDirectory
    let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.file("state.db")
    }

    private let writer = Artifact.path("store-writer")

    private func refusal() -> StoreError? {
        #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
    }

    /// Ten lists, closed.
    private func fill() throws {
        let store = try SQLiteStore(path: path)
        for number in 0..<10 { store.commit(StoreScript.list(number)) { _ in } }
        store.close()
    }

    @Test(.timeLimit(.minutes(5))) func `Only one has the file`() throws {
        let store = try SQLiteStore(path: path)
        let error = refusal()
        #expect(error?.kind == .taken)
        #expect(error?.message.contains("process \(getpid())") == true, "\(error?.message ?? "")")
        let other = try Command.run([writer, "open", path])
        #expect(other.output.hasPrefix("taken:"), "\(other)")
        // The first holder continues.
        store.commit(StoreScript.list(0)) { _ in }
        #expect(try store.recover().pending.count == 3)
        store.close()
        try SQLiteStore(path: path).close()
    }

    /// A program that knows nothing of the lock file has the database itself.
    @Test(.timeLimit(.minutes(5))) func `Another program has the file`() throws {
        try fill()
        let other = try Command.run([
            "sqlite3", path, "BEGIN IMMEDIATE", ".shell \(writer) open \(path)",
        ])
        #expect(other.output.hasPrefix("taken: "), "\(other)")
        #expect(other.output.contains("another program has the file open"))
        try SQLiteStore(path: path).close()
    }

    @Test(arguments: [
        "PRAGMA user_version = \(Schema.version + 1)", "PRAGMA user_version = 999999",
        "PRAGMA application_id = 7", "PRAGMA application_id = 0",
    ])
    func `Another format is refused`(change: String) throws {
        try fill()
        let change = try Command.run(["sqlite3", path, "PRAGMA journal_mode = DELETE; \(change)"])
        try #require(change.exitCode == 0, "\(change)")
        let before = try File.read(path)
        let error = refusal()
        #expect(error?.message.contains(path) == true)
        #expect(try File.read(path) == before)
    }

    @Test(arguments: ["not a database at all", String(repeating: "SQLite format 3\0", count: 500)])
    func `Another file is refused`(text: String) throws {
        try folder.write(text, to: "state.db")
        #expect(refusal()?.kind == .corrupt)
        #expect(try File.read(path) == Array(text.utf8))
    }

    @Test func `A removed database is reported`() throws {
        try fill()
        unlink(path)
        let error = refusal()
        #expect(error?.kind == .corrupt)
        #expect(error?.message.contains("missing") == true)
        #expect(access(path, F_OK) != 0)
        // An empty one is no better.
        try folder.write("", to: "state.db")
        #expect(refusal()?.kind == .corrupt)
        // An operator who accepts an empty store can start with one.
        unlink(path + "-lock")
        let store = try SQLiteStore(path: path)
        #expect(try store.recover().pending.isEmpty)
        store.close()
    }

    @Test func `An older restored file is reported`() throws {
        try fill()
        let old = try File.read(path)
        let store = try SQLiteStore(path: path)
        store.commit(StoreScript.list(10)) { _ in }
        store.close()
        try File.write(old, to: path)
        let error = refusal()
        #expect(error?.kind == .corrupt)
        #expect(error?.message.contains("the last 3 changes") == true, "\(error?.message ?? "")")
        unlink(path + "-lock")
        let again = try SQLiteStore(path: path)
        #expect(try StoreModel(reading: again) == StoreModel(lists: 10))
        again.close()
    }

    /// No checksum covers the size of the history in the file, so the store does not trust it.
    @Test(arguments: ["9223372036854775807", "-9223372036854775808"])
    func `A history of no size does not end the daemon`(size: String) throws {
        try fill()
        let change = "UPDATE run SET size = \(size), at = \(size)"
        let changed = try Command.run(["sqlite3", path, "PRAGMA journal_mode = DELETE; \(change)"])
        try #require(changed.exitCode == 0, "\(changed)")
        let policy = HistoryPolicy(host: HistorySettings(runs: 5, bytes: 1000, outputBytes: 1000))
        let store = try SQLiteStore(path: path, retention: .init(policy: policy, chunk: 1))
        for number in 12..<30 {
            store.commit(StoreScript.list(number)) { result in
                if case .failure(let error) = result { Issue.record("\(error)") }
            }
        }
        #expect(try store.recover().pending.contains(StoreScript.request(29)))
        store.close()
    }

    @Test func `A missing folder is reported`() {
        let error = #expect(throws: StoreError.self) {
            try SQLiteStore(path: folder.file("no/such/state.db"))
        }
        #expect(error?.message.contains("no/such") == true)
    }

    @Test func `Others cannot read it`() throws {
        try fill()
        for suffix in ["", "-lock"] {
            var status = stat()
            #expect(stat(path + suffix, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
        }
    }

    // MARK: The disk

    /// A shell command in a mount namespace of its own, where a test may mount what it needs.
    private func confined(_ script: String) throws -> Command.Result {
        try Command.run(["unshare", "--mount", "sh", "-ec", script])
    }

    private static let mayMount =
        (try? Command.run(["unshare", "--mount", "true"]).exitCode) == 0

    @Test(.timeLimit(.minutes(5)), .enabled(if: mayMount, "mounting needs root"))
    func `A full disk is reported until it has room`() throws {
        let result = try confined(
            """
            mount -t tmpfs -o size=2m none \(folder.path)
            head -c 1000000 /dev/zero > \(folder.path)/ballast
            \(writer) fill \(path) \(folder.path)/ballast
            """
        )
        let lines = result.output.split(separator: "\n")
        try #require(lines.count == 4, "\(result)")
        #expect(lines[0] != "kept 0")
        #expect(lines[1].hasPrefix("refused full: cannot keep a transaction in \(path)"))
        #expect(lines[2] == "again full")
        #expect(lines[3] == "all there")
    }

    @Test(.timeLimit(.minutes(5))) func `A file that may not grow is said and passes`() throws {
        let result = try Command.run([writer, "limit", path, "400000"])
        let lines = result.output.split(separator: "\n")
        try #require(lines.count == 4, "\(result)")
        #expect(lines[0] != "kept 0")
        #expect(lines[1].hasPrefix("refused full: "))
        #expect(lines[2] == "again full")
        #expect(lines[3] == "all there")
    }

    @Test(.timeLimit(.minutes(5))) func `A start without room says what to do`() throws {
        let result = try Command.run([writer, "limit", path, "4096"])
        #expect(result.output.hasPrefix("full: cannot open the store in \(path): "), "\(result)")
        #expect(
            result.output.hasSuffix(
                "; free some room on its file system, then start the daemon again\n"
            ),
            "\(result)"
        )
    }

    @Test(.timeLimit(.minutes(5))) func `A backup without room says what to do`() throws {
        let store = try SQLiteStore(path: path)
        for number in 0..<300 { store.commit(StoreScript.list(number)) { _ in } }
        store.close()
        let result = try Command.run([writer, "backup", path, "150000"])
        #expect(
            result.output.hasPrefix("full: cannot write a copy of \(path) in \(path).copy: "),
            "\(result)"
        )
        #expect(result.output.contains("name a folder on another file system"), "\(result)")
        #expect(try File.list(folder.path).allSatisfy { !$0.contains("copy") })
    }

    /// Ends of runs wait for room, in order; other changes are refused and never overtake them.
    @Test(.timeLimit(.minutes(5))) func `A change that must be kept waits for room`() throws {
        let result = try Command.run([writer, "retry", path, "400000"])
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(
            lines == [
                "failing true 1", "waiting 20 since true", "left 0", "in order true",
                "failing false", "all there",
            ],
            "\(result)"
        )
    }

    @Test(.timeLimit(.minutes(5))) func `Changes lost at the end are counted`() throws {
        let result = try Command.run([writer, "lose", path, "400000"])
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(
            lines == ["failing true 1", "waiting 20 since true", "lost 20", "answered 0"],
            "\(result)"
        )
    }

    /// Of transfers only the last state waits, so their memory is bounded.
    @Test(.timeLimit(.minutes(5))) func `Transfers are kept once there is room`() throws {
        let result = try Command.run([writer, "transfers", path, "400000"])
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(
            lines == ["left true", "left 0", "told true", "all there"],
            "\(result)"
        )
    }

    @Test(.timeLimit(.minutes(5)))
    func `A journal that refused a transfer fails until there is room`() throws {
        let result = try Command.run([writer, "refused", path, "400000"])
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(
            lines == [
                "healthy true", "since true, waiting 0", "final false",
                "left 0, failing since true", "healthy true",
            ],
            "\(result)"
        )
    }

    @Test(
        .timeLimit(.minutes(5)),
        .enabled(if: mayMount, "mounting needs root"),
        arguments: [true, false]
    )
    func `A read only folder is reported`(isFilled: Bool) throws {
        if isFilled { try fill() }
        let before = try? File.read(path)
        let result = try confined(
            """
            mount --bind \(folder.path) \(folder.path)
            mount -o remount,bind,ro \(folder.path)
            \(writer) open \(path) || true
            """
        )
        #expect(result.output.hasPrefix("readOnly: "), "\(result)")
        #expect(result.output.contains(path))
        #expect((try? File.read(path)) == before)
    }

    /// After a failed sync the content of the disk is unknown: the store does not retry.
    @Test(.timeLimit(.minutes(5))) func `A failed sync ends all writing`() throws {
        let library = folder.file("failing_sync.so")
        let source = PackageRoot.path + "/Tests/Fixtures/Store/failing_sync.c"
        let made = try Command.run([
            Toolchain.c, "-shared", "-fPIC", "-D_GNU_SOURCE", source, "-o", library,
        ])
        try #require(made.exitCode == 0, "\(made)")
        let works = folder.file("works")
        try File.write([], to: works)
        let result = try Command.run([
            "env", "LD_PRELOAD=\(library)", "SYNC_WORKS=\(works)", writer, "open", path, works,
        ])
        let lines = result.output.split(separator: "\n")
        try #require(lines.count == 3, "\(result)")
        #expect(lines[0] == "kept")
        #expect(lines[1].hasPrefix("refused other: cannot keep a transaction in \(path)"))
        #expect(lines[2].hasPrefix("refused other: "))
        // With a disk that works, what was answered is there; what was not may be.
        let store = try SQLiteStore(path: path)
        let found = try StoreModel(reading: store)
        #expect(found.lists >= 1 && found == StoreModel(lists: found.lists))
        store.close()
    }
}
