// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy
import BghostStore
import BghostTestSupport
import Testing

extension MigrationTests {
    /// Takes away what the fifteenth version brought too.
    static let fourteenth =
        fifteenth + """

            ALTER TABLE lease DROP COLUMN submitter_run;
            ALTER TABLE run DROP COLUMN submitter_run;
            PRAGMA user_version = 14;
            """

    @Test(.timeLimit(.minutes(5)))
    func `A store of the fourteenth version keeps the submitters of runs from then on`()
        async throws
    {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let store = StoreConformance(store: try SQLiteStore(path: path))
        try await store.commit(Sample.wholeLife(7))
        try await store.commit(.accepted(Sample.request(8), replacing: nil))
        try await store.commit(.runStarted(Sample.begun(80, request: 8)))
        store.store.close()
        let downgrade = try Command.run(["sqlite3", path, Self.fourteenth])
        try #require(downgrade.exitCode == 0, "\(downgrade)")
        let migrated = StoreConformance(store: try SQLiteStore(path: path))
        #expect(
            try migrated.store.recover().interrupted.map(\.run) == [Sample.begun(80, request: 8)]
        )
        #expect(migrated.store.runs(task: nil, limit: 9).count == 1)
        var begun = Sample.begun(90, request: 9)
        begun.submitterRun = Sample.id(80)
        try await migrated.commit(.accepted(Sample.request(9), replacing: nil))
        try await migrated.commit(.runStarted(begun))
        migrated.store.close()
        let again = try SQLiteStore(path: path)
        #expect(
            Set(try again.recover().interrupted.map(\.run.submitterRun)) == [nil, Sample.id(80)]
        )
        again.close()
    }
}
