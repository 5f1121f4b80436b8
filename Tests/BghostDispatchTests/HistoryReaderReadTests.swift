// SPDX-License-Identifier: Apache-2.0

import BghostAPI
@testable import BghostDispatch
import BghostLinux
@testable import BghostServices
import BghostStore
import BghostTestSupport
import Testing

/// Questions of operators to a store that cannot be read.
@MainActor @Suite struct HistoryReaderReadTests {
    @Test func `A store that cannot be read is no empty history`() async throws {
        let (spawner, threads) = (try Spawner(), BlockingThreads())
        defer {
            spawner.end()
            threads.end()
        }
        let folder = try TemporaryDirectory()
        let store = try SQLiteStore(path: folder.file("store"))
        let history = HistoryReader(store, threads, spawner: spawner)
        #expect(try await history.read { $0.runs(task: nil, limit: 1) }.isEmpty)
        store.close()
        let refusal = await #expect(throws: OperatorRefusal.self) {
            try await history.read { $0.runs(task: nil, limit: 1) }
        }
        #expect(refusal?.code == .unavailable)
        #expect(refusal?.description == "the history cannot be read; the log says why")
    }
}
