// SPDX-License-Identifier: Apache-2.0

import BghostCore
import BghostStore
import BghostTestSupport
import Testing

@Suite struct SQLiteStoreTests {
    @Test(.timeLimit(.minutes(1)), arguments: StoreConformance.checks)
    func conforms(_ check: StoreConformance.Check) async throws {
        let folder = try TemporaryDirectory()
        let store = try SQLiteStore(path: folder.file("state.db")) {
            Issue.record("\($0)")
        }
        defer { store.close() }
        try await check.run(StoreConformance(store: store))
    }
}
