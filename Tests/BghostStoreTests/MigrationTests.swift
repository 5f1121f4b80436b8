// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy
@testable import BghostStore
import BghostTestSupport
import Testing

/// Files that an older version wrote.
@Suite(.ownThreads) struct MigrationTests {
    /// What versions before this one kept besides `user_version`, which still counts.
    private static let oldRecord =
        "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);"

    /// Takes away what the thirteenth version brought too.
    static let twelfth =
        thirteenth + """

            DROP TABLE checkpoint;
            PRAGMA user_version = 12;
            """

    /// Takes away what the twelfth version brought too.
    static let eleventh =
        twelfth + """

            DROP TABLE manifest;
            PRAGMA user_version = 11;
            """

    /// Takes away what the eleventh version brought too.
    static let tenth =
        eleventh + """

            ALTER TABLE audit DROP COLUMN detail;
            PRAGMA user_version = 10;
            """

    /// Takes away what the tenth version brought too.
    private static let ninth =
        tenth + """

            DROP TABLE alert;
            DROP TABLE progress;
            PRAGMA user_version = 9;
            """

    /// Takes away what the ninth version brought too.
    private static let eighth =
        ninth + """

            DROP TABLE audit;
            DROP TABLE audit_anchor;
            PRAGMA user_version = 8;
            """

    /// Takes away what the eighth version brought too.
    private static let seventh =
        eighth + """

            DROP TABLE pause;
            PRAGMA user_version = 7;
            """

    /// Takes away what the seventh version brought too.
    private static let sixth =
        seventh + """

            DROP INDEX output_success;
            DROP INDEX run_plugin;
            DROP INDEX run_failed;
            DROP INDEX run_failed_task;
            DROP INDEX run_failed_plugin;
            DROP TABLE extent;
            DROP TABLE start;
            ALTER TABLE output DROP COLUMN success;
            PRAGMA user_version = 6;
            """

    /// Takes away what the sixth version brought too.
    private static let fifth =
        sixth + oldRecord + """

            ALTER TABLE task DROP COLUMN throttle_runs;
            ALTER TABLE request DROP COLUMN submitter_plugin;
            ALTER TABLE lease DROP COLUMN kind;
            ALTER TABLE lease DROP COLUMN source;
            ALTER TABLE lease DROP COLUMN crash;
            ALTER TABLE lease DROP COLUMN output;
            ALTER TABLE run DROP COLUMN kind;
            ALTER TABLE run DROP COLUMN source;
            ALTER TABLE run DROP COLUMN crash;
            ALTER TABLE run DROP COLUMN output;
            DROP TABLE origin;
            DROP TABLE output;
            INSERT INTO grdb_migrations VALUES ('1'), ('2'), ('3'), ('4'), ('5');
            PRAGMA user_version = 5;
            """

    /// Takes away what all later versions brought.
    private static let first =
        fifth + """

            ALTER TABLE task DROP COLUMN parked_since;
            ALTER TABLE task DROP COLUMN served;
            ALTER TABLE task DROP COLUMN uses;
            ALTER TABLE request DROP COLUMN aim;
            ALTER TABLE request DROP COLUMN tolerance;
            DROP TABLE runtime;
            DROP TABLE notification;
            DROP TABLE quarantine;
            DELETE FROM grdb_migrations WHERE identifier <> '1';
            PRAGMA user_version = 1;
            """

    @Test(.timeLimit(.minutes(5)))
    func `A store of the first version is migrated and works`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let old = TaskMemory(
            identifier: "a",
            throttle: ThrottlePoints(points: 3, changedAt: 4, lastEnd: 5),
            lastServedTime: 6,
            schedule: "every 5m",
            scheduledSince: 7
        )
        let store = StoreConformance(store: try SQLiteStore(path: path))
        try await store.commit(.accepted(Sample.fullRequestOfTheFirst, replacing: nil))
        try await store.commit(.remembered(old))
        try await store.commit(Sample.wholeLife(5))
        store.store.close()
        let downgrade = try Command.run(["sqlite3", path, Self.first])
        try #require(downgrade.exitCode == 0, "\(downgrade)")

        for _ in 0..<2 {
            let store = try SQLiteStore(path: path) { Issue.record("\($0)") }
            for _ in 0..<2 {
                let state = try store.recover()
                #expect(state.pending == [Sample.fullRequestOfTheFirst])
                #expect(state.tasks == [old])
                #expect(store.runs(task: nil, limit: 9) == [Sample.ended(5, request: 10_005)])
            }
            store.close()
        }
        var new = old
        new.parkedSince = 8
        let migrated = StoreConformance(store: try SQLiteStore(path: path))
        try await migrated.commit(.remembered(new))
        try await migrated.commit(
            .accepted(
                Sample.fullRequestOfTheThirteenth,
                replacing: Sample.fullRequestOfTheThirteenth.id
            )
        )
        migrated.store.close()
        let again = try SQLiteStore(path: path)
        #expect(try again.recover().tasks == [new])
        #expect(try again.recover().pending == [Sample.fullRequestOfTheThirteenth])
        again.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func `Runs and leases of the fifth version are migrated`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let store = StoreConformance(store: try SQLiteStore(path: path))
        try await store.commit(Sample.wholeLife(5))
        try await store.commit(.accepted(Sample.request(7, task: "a"), replacing: nil))
        try await store.commit(.runStarted(Sample.begun(8, request: 7)))
        store.store.close()
        let downgrade = try Command.run(["sqlite3", path, Self.fifth])
        try #require(downgrade.exitCode == 0, "\(downgrade)")

        let migrated = StoreConformance(
            store: try SQLiteStore(path: path) { Issue.record("\($0)") }
        )
        let state = try migrated.store.recover()
        #expect(state.interrupted.map(\.run) == [Sample.begun(8, request: 7)])
        #expect(migrated.store.runs(task: nil, limit: 9) == [Sample.ended(5, request: 10_005)])
        let full = Sample.detailedRecord(8, request: 7)
        try await migrated.commit(.runEnded(full, then: .consumed))
        let stored = try #require(migrated.store.runs(task: nil, limit: 1).first)
        #expect(stored.origin == full.origin && stored.kind == full.kind)
        #expect(stored.details?.crash == full.details?.crash)
        #expect(migrated.store.output(ofRun: full.id) == full.details?.output)
        migrated.store.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func `Output of the sixth version is taken over, with what each run came to`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let store = StoreConformance(store: try SQLiteStore(path: path))
        for number in 1...2 {
            var record = Sample.detailedRecord(number, request: 100 + number)
            if number == 1 { record.outcome = .succeeded }
            try await store.commit(
                .accepted(Sample.request(100 + number, task: "a"), replacing: nil)
            )
            try await store.commit(.runStarted(Sample.begun(number, request: 100 + number)))
            try await store.commit(.runEnded(record, then: .consumed))
        }
        let before = store.store.runs(task: nil, limit: 9)
        store.store.close()
        let downgrade = try Command.run(["sqlite3", path, Self.sixth])
        try #require(downgrade.exitCode == 0, "\(downgrade)")
        let migrated = try SQLiteStore(path: path) { Issue.record("\($0)") }
        #expect(migrated.runs(task: nil, limit: 9) == before)
        migrated.close()
        let successes = try Command.run([
            "sqlite3", path, "SELECT seq, success FROM output ORDER BY seq",
        ])
        #expect(successes.output == "1|1\n2|\n")
    }

    @Test(.timeLimit(.minutes(5)))
    func `A store of the seventh version gets pauses and keeps the rest`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let store = StoreConformance(store: try SQLiteStore(path: path))
        try await store.commit(.accepted(Sample.fullRequestOfTheThirteenth, replacing: nil))
        store.store.close()
        let downgrade = try Command.run(["sqlite3", path, Self.seventh])
        try #require(downgrade.exitCode == 0, "\(downgrade)")
        let pause = Pause(
            target: .tasks("org.example.*"),
            since: 3,
            until: 4,
            isRelative: true,
            user: "uid 0",
            reason: "new \"disk\""
        )
        let open = Pause(target: .all, since: 5, user: "uid 1000")
        let migrated = StoreConformance(store: try SQLiteStore(path: path))
        #expect(try migrated.store.recover().pauses == [])
        try await migrated.commit(.paused(pause.target, pause))
        try await migrated.commit(.paused(.plugin("p"), pause))
        try await migrated.commit(.paused(.plugin("p"), nil))
        try await migrated.commit(.paused(open.target, open))
        migrated.store.close()
        let again = try SQLiteStore(path: path)
        #expect(try again.recover().pauses == [pause, open])
        #expect(try again.recover().pending == [Sample.fullRequestOfTheThirteenth])
        again.close()
        let damage = try Command.run(["sqlite3", path, "UPDATE pause SET until = 9"])
        try #require(damage.exitCode == 0, "\(damage)")
        let damaged = try SQLiteStore(path: path)
        let error = #expect(throws: StoreError.self) { try damaged.recover() }
        #expect(error?.kind == .corrupt)
        damaged.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func `A store of the ninth version gets alerts and keeps the rest`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let store = StoreConformance(store: try SQLiteStore(path: path))
        try await store.commit(.accepted(Sample.fullRequestOfTheThirteenth, replacing: nil))
        store.store.close()
        let downgrade = try Command.run(["sqlite3", path, Self.ninth])
        try #require(downgrade.exitCode == 0, "\(downgrade)")
        let told = AlertRow(
            key: AlertKey(.failures, "org.example.a"),
            since: 3,
            detail: "3 runs \"failed\"",
            toldAt: 4,
            endedAt: 5
        )
        let open = AlertRow(key: AlertKey(.store), since: 6, detail: "")
        let progress = TaskProgress(task: "org.example.a", since: 1, lastSuccess: 2, failures: 7)
        let fresh = TaskProgress(task: "org.example.b", since: 1)
        let migrated = StoreConformance(store: try SQLiteStore(path: path))
        #expect(try migrated.store.recover().alerts == [])
        for change in [
            AlertChange.kept(open), .kept(told),
            .kept(AlertRow(key: AlertKey(.plugin, "p"), since: 1, detail: "")),
            .removed(AlertKey(.plugin, "p")), .progress(fresh), .progress(progress),
            .progress(TaskProgress(task: "gone", since: 1)), .unwatched(task: "gone"),
        ] {
            try await migrated.commit(.alert(change))
        }
        migrated.store.close()
        let again = try SQLiteStore(path: path)
        #expect(try again.recover().alerts == [told, open])
        #expect(try again.recover().progress == [progress, fresh])
        #expect(try again.recover().pending == [Sample.fullRequestOfTheThirteenth])
        again.close()
        let damage = try Command.run(["sqlite3", path, "UPDATE alert SET since = 9"])
        try #require(damage.exitCode == 0, "\(damage)")
        let damaged = try SQLiteStore(path: path)
        let error = #expect(throws: StoreError.self) { try damaged.recover() }
        #expect(error?.kind == .corrupt)
        damaged.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func `A store of a newer version is refused, and stays as it is`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let store = StoreConformance(store: try SQLiteStore(path: path))
        try await store.commit(Sample.wholeLife(1))
        store.store.close()
        let version = Schema.version
        let newer = try Command.run(["sqlite3", path, "PRAGMA user_version = \(version + 1)"])
        try #require(newer.exitCode == 0, "\(newer)")
        let bytes = try File.read(path)
        let error = #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
        let message = try #require(error?.message)
        #expect(message.contains(path))
        let cause = "a newer bghost (format \(version + 1), this one knows \(version))"
        #expect(message.contains(cause), "\(message)")
        #expect(try File.read(path) == bytes)
    }

    /// The file is a dump of one that a daemon with GRDB wrote, its table of migrations among it.
    @Test func `A store of a daemon with GRDB opens and works`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let dump = PackageRoot.path + "/Tests/Fixtures/Store/state-6-grdb.sql"
        let made = try Command.run(["sqlite3", path, ".read \(dump)"])
        try #require(made.exitCode == 0, "\(made)")
        let waiting = Request(
            id: RunID(high: 1, low: 2),
            task: "task2",
            parameters: #"{"number":2}"#,
            submittedAt: 2,
            priority: 500
        )
        let store = StoreConformance(store: try SQLiteStore(path: path))
        #expect(try store.store.recover().pending == [waiting])
        #expect(store.store.runs(task: nil, limit: 9).map(\.message) == ["run 0"])
        try await store.commit(.accepted(Sample.fullRequestOfTheThirteenth, replacing: waiting.id))
        store.store.close()
        let again = try SQLiteStore(path: path)
        #expect(try again.recover().pending == [Sample.fullRequestOfTheThirteenth])
        again.close()
    }

    /// An older version wrote its own table before it made those of the store.
    @Test func `A store without tables gets its tables`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let made = try Command.run(["sqlite3", path, Self.oldRecord])
        try #require(made.exitCode == 0, "\(made)")
        let store = StoreConformance(store: try SQLiteStore(path: path))
        try await store.commit(.accepted(Sample.fullRequestOfTheThirteenth, replacing: nil))
        store.store.close()
        let again = try SQLiteStore(path: path)
        #expect(try again.recover().pending == [Sample.fullRequestOfTheThirteenth])
        again.close()
    }

    @Test func `A failed migration leaves the file unchanged and is named`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let store = StoreConformance(store: try SQLiteStore(path: path))
        try await store.commit(.accepted(Sample.fullRequestOfTheThirteenth, replacing: nil))
        store.store.close()
        // The columns of the sixth version are there already.
        let change = try Command.run(["sqlite3", path, "PRAGMA user_version = 5"])
        try #require(change.exitCode == 0, "\(change)")
        let bytes = try File.read(path)
        let refused = try SQLiteStore(path: path)
        let error = #expect(throws: StoreError.self) { try refused.recover() }
        refused.close()
        let message = try #require(error?.message)
        #expect(message.contains("cannot take it from format 5 to 6: duplicate column name"))
        #expect(message.contains(path))
        #expect(try File.read(path) == bytes)
        let back = try Command.run(["sqlite3", path, "PRAGMA user_version = \(Schema.version)"])
        try #require(back.exitCode == 0, "\(back)")
        let whole = try SQLiteStore(path: path)
        #expect(try whole.recover().pending == [Sample.fullRequestOfTheThirteenth])
        whole.close()
    }

    @Test(arguments: [
        "parked_since = 1", "parked_since = NULL", "served = '1/2'", "uses = '1:1'",
        "throttle_runs = ''",
    ])
    func `A flipped value of a later column is seen`(change: String) async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let store = StoreConformance(store: try SQLiteStore(path: path))
        let since: Int64? = change.hasSuffix("NULL") ? 9 : nil
        try await store.commit(
            .remembered(TaskMemory(identifier: "a", schedule: "1h", parkedSince: since))
        )
        store.store.close()
        let flip = try Command.run(["sqlite3", path, "UPDATE task SET \(change)"])
        try #require(flip.exitCode == 0, "\(flip)")
        let damaged = try SQLiteStore(path: path)
        defer { damaged.close() }
        // It is read as it is recovered, and written to only after that.
        let error = #expect(throws: StoreError.self) { try damaged.recover() }
        #expect(error?.kind == .corrupt)
    }
}
