// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostDispatch
import BghostModel
import BghostOwnerSupport
@testable import BghostServices
import BghostStore
import BghostTestSupport
import Testing

/// The end of the daemon while a backup is written.
@Suite(.timeLimit(.minutes(5))) struct BackupCommandTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func command(_ store: SQLiteStore) throws -> BackupCommand {
        BackupCommand(
            store,
            transfers: { nil },
            state: try StateDirectory(folder.file("state"), allowsUntrustedFiles: true),
            log: HostLog(level: .debug)
        )
    }

    @Test(arguments: [false, true])
    func `The end waits for the row about a backup, unless it is forced`(isForced: Bool)
        async throws
    {
        try await ReactorActor.run { actor in
            let store = try SQLiteStore(path: folder.file("store"))
            defer { store.close() }
            let command = try command(store)
            let detail = AuditDetail()
            let report = try await AuditDetail.$current.withValue(detail) {
                try await command.backUp(to: folder.file("backup"), includesData: false)
            }
            #expect(report.bytes > 0)
            var isFinished = false
            let finish = Task {
                _ = actor
                await command.finish()
                isFinished = true
            }
            await ReactorActor.wait { command.isFinishing }
            #expect(!isFinished)
            let refusal = await #expect(throws: OperatorRefusal.self) {
                try await command.backUp(to: folder.file("late"), includesData: false)
            }
            #expect(refusal?.message == "the daemon is stopping")
            if isForced { command.abandon() } else { detail.noted() }
            await finish.value
            #expect(isFinished)
        }
    }

    @Test func `The end does not wait without a backup`() async throws {
        try await ReactorActor.run { _ in
            let store = try SQLiteStore(path: folder.file("store"))
            defer { store.close() }
            let command = try command(store)
            // Outside of a verb there is no row to wait for.
            _ = try await command.backUp(to: folder.file("backup"), includesData: false)
            await command.finish()
        }
    }
}
