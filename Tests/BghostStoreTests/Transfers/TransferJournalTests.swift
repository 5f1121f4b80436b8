// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTransferRules
import BghostStore
import BghostTestSupport
import Glibc
import Synchronization
import Testing

/// What every journal of transfers does, and what the one on the disk does besides.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct TransferJournalTests {
    enum Kind: CaseIterable, Sendable {
        case memory, sqlite
    }

    let folder: TemporaryDirectory
    let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.file("transfers")
    }

    private func open(_ kind: Kind) throws -> any TransferJournal {
        switch kind {
        case .memory: MemoryTransferJournal()
        case .sqlite: try SQLiteTransferJournal(path: path)
        }
    }

    /// Any record: each value of each kind comes up.
    private static func record(_ id: Int, _ random: inout SeededGenerator) -> TransferRecord {
        let kinds: [TransferKind] = [
            .download, .upload(.whole), .upload(.tus), .upload(.ietf), .upload(.negotiated),
            .upload(.multipart(field: "f\u{0}", fileName: "ü", contentType: "a/b")),
        ]
        var request = TransferRequest(
            id: RunID(high: .max, low: UInt64(id)),
            plugin: "p",
            session: "s\(Int.random(in: 0..<3, using: &random))",
            kind: kinds[id % kinds.count],
            url: "https://example.org/ü?\(id)",
            file: "/f/\(id)",
            createdAt: .random(in: .min ... .max, using: &random)
        )
        request.method = ["", "POST"][id % 2]
        request.headers = [TransferHeader("A", "b: c"), TransferHeader("D", "")]
        request.body = bytes(&random)
        request.digest = id % 2 == 0 ? nil : bytes(&random)
        request.bytesMax = .random(in: 0 ... .max, using: &random)
        request.idleTimeout = .random(in: 0 ... .max, using: &random)
        request.resourceTimeout = .random(in: 0 ... .max, using: &random)
        request.continuation = bytes(&random)
        request.isDiscretionary = .random(using: &random)
        return TransferRecord(
            request: request,
            key: "key \(id)",
            point: point(&random),
            status: status(&random)
        )
    }

    private static func bytes(_ random: inout SeededGenerator) -> [UInt8] {
        (0..<Int.random(in: 0..<100, using: &random)).map { _ in
            .random(in: 0...255, using: &random)
        }
    }

    private static func point(_ random: inout SeededGenerator) -> TransferPoint {
        var point = TransferPoint(boot: ["", "b"].randomElement(using: &random) ?? "")
        if .random(using: &random) { point.validator = .tag("\"x\"") }
        if .random(using: &random) { point.validator = .date("Sun, 06 Nov 1994 08:49:37 GMT") }
        if .random(using: &random) { point.total = .random(in: 0 ... .max, using: &random) }
        point.bytes = .random(in: 0 ... .max, using: &random)
        if .random(using: &random) { point.digest = ContentDigest(.sha256, Array(0..<32)) }
        if .random(using: &random) { point.uploadURL = "http://h/1" }
        point.dialect = (UploadDialect.allCases + [nil]).randomElement(using: &random) ?? nil
        if .random(using: &random) {
            point.source = FileStamp(
                size: .random(in: 0 ... .max, using: &random),
                seconds: .random(in: .min ... .max, using: &random),
                nanoseconds: 1,
                inode: .random(in: 0 ... .max, using: &random)
            )
        }
        return point
    }

    private static func status(_ random: inout SeededGenerator) -> TransferStatus {
        var status = TransferStatus(
            state: TransferState.allCases.randomElement(using: &random) ?? .queued,
            isDetached: .random(using: &random)
        )
        status.isKept = .random(using: &random)
        status.failures = .random(in: 0...100, using: &random)
        status.restarts = .random(in: 0...3, using: &random)
        if let code = TransferFault.Code.allCases.randomElement(using: &random),
            Bool.random(using: &random)
        {
            status.fault = TransferFault(
                code,
                "why",
                status: [nil, 503].randomElement(using: &random) ?? nil
            )
        }
        if .random(using: &random) {
            status.answer = TransferAnswer(
                status: 200,
                headers: [TransferHeader("etag", "\"x\"")],
                body: bytes(&random),
                bytes: .random(in: 0 ... .max, using: &random)
            )
            status.endedAt = .random(in: .min ... .max, using: &random)
        }
        if .random(using: &random) {
            status.pause = RetryPause(
                until: .random(in: .min ... .max, using: &random),
                length: .random(in: .min ... .max, using: &random)
            )
        }
        if .random(using: &random) {
            status.expiresAt = .random(in: .min ... .max, using: &random)
        }
        return status
    }

    private static func change(
        _ model: [RunID: TransferRecord],
        _ next: inout Int,
        _ random: inout SeededGenerator
    ) -> TransferChange {
        // Some of what is changed is not there, or not there any more.
        let id = RunID(
            high: .max,
            low: UInt64(Int.random(in: 0..<max(1, next + 2), using: &random))
        )
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1:
            defer { next += 1 }
            return .created(record(next, &random))
        case 2: return .moved(id, point(&random))
        case 3: return .changed(id, status(&random))
        default: return .removed(id)
        }
    }

    @Test(arguments: Kind.allCases, SeededGenerator.seeds(4))
    func `Keeps what it is given`(kind: Kind, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var model: [RunID: TransferRecord] = [:]
        var next = 0
        var journal = try open(kind)
        let answers = Answers()
        for round in 0..<300 {
            let changes = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                Self.change(model, &next, &random)
            }
            for change in changes { model.apply(change) }
            journal.commit(changes) { answers.add(round, $0) }
            guard round % 20 == 19 else { continue }
            let expected = model.values.sorted { $0.request.id < $1.request.id }
            #expect(try journal.recover() == expected, "round \(round)")
            guard kind == .sqlite else { continue }
            journal.close()
            journal = try open(kind)
            #expect(try journal.recover() == expected, "round \(round), opened again")
        }
        journal.close()
        #expect(answers.kept == Array(0..<300))
    }

    @Test(arguments: Kind.allCases) func `A closed journal keeps nothing`(kind: Kind) throws {
        let journal = try open(kind)
        journal.close()
        journal.close()
        let answers = Answers()
        journal.commit([.removed(RunID(high: 0, low: 0))]) { answers.add(0, $0) }
        #expect(answers.kept.isEmpty)
        #expect(answers.failures == 1)
    }

    /// The answers of commits, in their order.
    private final class Answers: Sendable {
        private let state = Mutex<(kept: [Int], failures: Int)>(([], 0))

        func add(_ number: Int, _ result: Result<Void, TransferJournalError>) {
            state.withLock { state in
                switch result {
                case .success: state.kept.append(number)
                case .failure: state.failures += 1
                }
            }
        }

        var kept: [Int] { state.withLock { $0.kept } }
        var failures: Int { state.withLock { $0.failures } }
    }

    private func fill() throws {
        let journal = try SQLiteTransferJournal(path: path)
        var random = SeededGenerator(seed: 1)
        for id in 0..<20 { journal.commit([.created(Self.record(id, &random))]) { _ in } }
        journal.close()
    }

    @Test func `No other user may read it`() throws {
        try fill()
        for name in try File.list(folder.path) {
            var status = stat()
            #expect(stat(folder.file(name), &status) == 0)
            #expect(status.st_mode & 0o077 == 0, "\(name)")
        }
    }

    @Test func `Two may not have it`() throws {
        let journal = try SQLiteTransferJournal(path: path)
        let error = #expect(throws: TransferJournalError.self) {
            try SQLiteTransferJournal(path: path)
        }
        #expect(error?.description.contains(path) ?? false)
        journal.close()
        try SQLiteTransferJournal(path: path).close()
    }

    @Test func `A file that is no journal is not changed`() throws {
        let bytes = Array("this is no database, and long enough to be looked at ".utf8)
        try folder.write(bytes, to: "transfers")
        #expect(throws: TransferJournalError.self) { try SQLiteTransferJournal(path: path) }
        #expect(try File.read(path) == bytes)
        let store = try SQLiteStore(path: folder.file("store"))
        store.close()
        #expect(throws: TransferJournalError.self) {
            try SQLiteTransferJournal(path: folder.file("store"))
        }
        #expect(throws: Never.self) { try SQLiteStore(path: folder.file("store")).close() }
    }

    @Test func `The database of another program is left as it is`() throws {
        let made = try Command.run(["sqlite3", path, "CREATE TABLE theirs (a)"])
        try #require(made.exitCode == 0, "\(made)")
        let bytes = try File.read(path)
        let error = #expect(throws: TransferJournalError.self) {
            try SQLiteTransferJournal(path: path)
        }
        #expect(error?.description.contains("another program") ?? false)
        #expect(try File.read(path) == bytes)
    }

    /// The file is a dump of one that a daemon with GRDB wrote, its table of migrations among it.
    @Test func `A journal of a daemon with GRDB opens and works`() throws {
        let dump = PackageRoot.path + "/Tests/Fixtures/Store/transfers-1-grdb.sql"
        let made = try Command.run(["sqlite3", path, ".read \(dump)"])
        try #require(made.exitCode == 0, "\(made)")
        let journal = try SQLiteTransferJournal(path: path)
        let old = try journal.recover()
        #expect(old.map(\.request.url) == ["http://127.0.0.1:9/x"])
        #expect(old.map(\.status.fault?.code) == [.connection])
        #expect(old.map(\.status.pause) == [nil] && old.map(\.status.expiresAt) == [nil])
        let id = try #require(old.first?.request.id)
        let answers = Answers()
        journal.commit([.changed(id, TransferStatus(state: .cancelled))]) { answers.add(0, $0) }
        journal.close()
        #expect(answers.kept == [0])
        #expect(try records().map(\.status.state) == [.cancelled])
    }

    @Test func `A journal of the future is refused`() throws {
        try fill()
        var bytes = try File.read(path)
        // `user_version` in the header.
        bytes.replaceSubrange(60..<64, with: [0, 0, 0, 3])
        try File.write(bytes, to: path)
        let error = #expect(throws: TransferJournalError.self) {
            try SQLiteTransferJournal(path: path)
        }
        #expect(error?.description.contains("newer") ?? false)
    }

    /// A byte that is not what was written is never taken for what was written.
    @Test func `Damage is noticed`() throws {
        try fill()
        let whole = try File.read(path)
        let expected = try records()
        var random = SeededGenerator(seed: 7)
        var noticed = 0
        for _ in 0..<200 {
            var bytes = whole
            let place = Int.random(in: 100..<bytes.count, using: &random)
            bytes[place] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
            for name in try File.list(folder.path) { unlink(folder.file(name)) }
            try File.write(bytes, to: path)
            do {
                let found = try records()
                // Free space holds nothing of ours.
                #expect(found == expected, "byte \(place)")
            } catch is TransferJournalError {
                noticed += 1
            }
        }
        #expect(noticed > 50)
    }

    private func records() throws -> [TransferRecord] {
        let journal = try SQLiteTransferJournal(path: path)
        defer { journal.close() }
        return try journal.recover()
    }

    @Test func `A copy has what the journal has`() throws {
        var random = SeededGenerator(seed: 1)
        let journal = try SQLiteTransferJournal(path: path)
        var model: [RunID: TransferRecord] = [:]
        var next = 0
        for _ in 0..<100 { journal.keep([Self.change(model, &next, &random)]) }
        let records = try journal.recover()
        model = Dictionary(uniqueKeysWithValues: records.map { ($0.request.id, $0) })
        try #require(!model.isEmpty)
        let copy = folder.file("copy")
        try journal.backup(to: copy)
        journal.keep([.created(Self.record(next, &random))])
        let other = try SQLiteTransferJournal(path: copy)
        #expect(try other.recover() == records)
        other.close()
        #expect(try File.mode(copy) & 0o777 == 0o600)
        #expect(throws: TransferJournalError.self) { try journal.backup(to: copy) }
        #expect(throws: TransferJournalError.self) { try journal.backup(to: "/nonexistent/copy") }
        journal.close()
        #expect(throws: TransferJournalError.self) { try journal.backup(to: folder.file("late")) }
    }
}
