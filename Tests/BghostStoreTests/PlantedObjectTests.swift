// SPDX-License-Identifier: Apache-2.0

@testable import BghostStore
import BghostTestSupport
import BghostTransferRules
import Glibc
import Testing

/// Triggers, views and the like that another program put into a file of bghost, such as a backup from elsewhere.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct PlantedObjectTests {
    private let folder: TemporaryDirectory
    private let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.file("state.db")
    }

    private func plant(_ sql: String) throws {
        let change = try Command.run(["sqlite3", path, "PRAGMA journal_mode = DELETE; \(sql)"])
        try #require(change.exitCode == 0, "\(change)")
    }

    /// What is planted into a store, and the words for it in the error.
    private static let plants = [
        ("CREATE TRIGGER x AFTER INSERT ON journal BEGIN DELETE FROM run; END", "the trigger x"),
        (
            "ALTER TABLE checkpoint RENAME TO y; CREATE VIEW checkpoint AS SELECT * FROM y",
            "the table y"
        ),
        ("CREATE VIEW x AS SELECT 1", "the view x"),
        ("CREATE UNIQUE INDEX x ON journal (size)", "the index x"),
        ("CREATE TABLE x (y)", "the table x"),
        (
            "DROP TABLE switched_off; CREATE VIRTUAL TABLE switched_off USING rtree(a, b, c)",
            "the table switched_off_node"
        ),
    ]

    @Test(arguments: plants)
    func `A store with more than bghost made is refused`(sql: String, words: String) throws {
        try SQLiteStore(path: path).close()
        try plant(sql)
        let before = try File.read(path)
        let error = #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
        #expect(error?.kind == .corrupt)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect(unlink(path + "-lock") == 0)
        let refusal = #expect(throws: StoreError.self) { try StoreCopy.prepare(store: path) }
        #expect(refusal?.message.contains(words) == true, "\(refusal?.message ?? "")")
        #expect(try File.read(path) == before)
    }

    @Test func `A journal of transfers with a trigger is refused`() throws {
        try SQLiteTransferJournal(path: path).close()
        try plant("CREATE TRIGGER x AFTER INSERT ON transfer BEGIN DELETE FROM transfer; END")
        let error = #expect(throws: TransferJournalError.self) {
            try SQLiteTransferJournal(path: path)
        }
        #expect(error?.description.contains("the trigger x") == true, "\(error?.description ?? "")")
        #expect(throws: StoreError.self) { try StoreCopy.check(transfers: path) }
    }

    /// What `ANALYZE` adds is SQLite's own, and earlier versions of bghost had a table of migrations.
    @Test func `Tables of SQLite and of earlier versions are no others`() throws {
        try SQLiteStore(path: path).close()
        try plant("ANALYZE; CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        try SQLiteStore(path: path).close()
    }

    @Test func `A connection runs no trigger and reads no view`() throws {
        try plant(
            """
            CREATE TABLE a (x); CREATE TABLE b (x); CREATE VIEW c AS SELECT x FROM a;
            CREATE TRIGGER t AFTER INSERT ON a BEGIN INSERT INTO b VALUES (1); END
            """
        )
        let connection = try Connection(path: path, isReadOnly: false, pragmas: "")
        try connection.run("INSERT INTO a VALUES (1)")
        #expect(try connection.number("SELECT count(*) FROM b") == 0)
        #expect(throws: SQLiteFailure.self) { try connection.number("SELECT x FROM c") }
    }
}
