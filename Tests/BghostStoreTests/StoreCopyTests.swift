// SPDX-License-Identifier: Apache-2.0

import BghostPolicy
@testable import BghostStore
import BghostTestSupport
import BghostTransferRules
import Glibc
import Testing

/// Copies of a backup, which are checked before they take the place of what is there.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct StoreCopyTests {
    private let folder: TemporaryDirectory
    private let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.file("copy.db")
    }

    private func sql(_ statements: String) throws {
        let command = try Command.run(["sqlite3", path, statements])
        try #require(command.exitCode == 0, "\(command)")
    }

    private func makeCopy() async throws {
        let store = StoreConformance(store: try SQLiteStore(path: folder.file("state.db")))
        try await store.commit(
            .accepted(Sample.request(1), replacing: nil),
            .switched(plugin: "photos", off: "too loud")
        )
        try store.store.backup(to: path)
        store.store.close()
    }

    /// A start reads these rows, so a copy with a damaged one of them does not start.
    @Test(arguments: [
        "UPDATE request SET parameters = 'x'", "UPDATE switched_off SET reason = ''",
        "DELETE FROM request", "UPDATE meta SET incarnation = -1",
    ])
    func `A copy that no daemon starts from is refused`(damage: String) async throws {
        try await makeCopy()
        try sql(damage)
        let error = #expect(throws: StoreError.self) {
            try StoreCopy.prepare(store: path, from: "/backup/state.db")
        }
        #expect(error?.kind == .corrupt)
        let message = error?.message ?? ""
        #expect(message.hasPrefix("cannot read the store in /backup/state.db: "), "\(message)")
        #expect(message.hasSuffix("nothing was replaced: restore another one"), "\(message)")
        #expect(access(path + "-lock", F_OK) != 0)
    }

    @Test func `A copy of a newer version names its remedy`() async throws {
        try await makeCopy()
        try sql("PRAGMA user_version = \(Schema.version + 1)")
        let error = #expect(throws: StoreError.self) {
            try StoreCopy.prepare(store: path, from: "/backup/state.db")
        }
        let message = error?.message ?? ""
        #expect(message.hasPrefix("cannot open the store in /backup/state.db: "), "\(message)")
        #expect(message.hasSuffix("restore it with that one; nothing was replaced"), "\(message)")
    }

    @Test func `A copy of transfers with a damaged row is refused`() throws {
        let journal = try SQLiteTransferJournal(path: folder.file("transfers.db"))
        let request = TransferRequest(
            id: Sample.id(1),
            plugin: "p",
            session: "s",
            kind: .download,
            url: "https://example.org",
            file: "/f",
            createdAt: 0
        )
        journal.keep([
            .created(
                TransferRecord(
                    request: request,
                    key: "k",
                    point: TransferPoint(boot: "b"),
                    status: TransferStatus()
                )
            )
        ])
        #expect(try journal.recover().count == 1)
        try journal.backup(to: path)
        journal.close()
        try StoreCopy.check(transfers: path)
        try sql("UPDATE transfer_point SET bytes = 7")
        let error = #expect(throws: StoreError.self) {
            try StoreCopy.check(transfers: path, from: "/backup/transfers.db")
        }
        let message = error?.message ?? ""
        #expect(
            message.hasPrefix("cannot read the transfers in /backup/transfers.db"),
            "\(message)"
        )
    }
}
