// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import Synchronization

/// Reports damaged rows of the history, and questions that cannot be read, each once.
///
/// No decision depends on these rows, so commits and answers go on without them. Any thread may use it.
final class DamagedRows: Sendable {
    /// A table with very many damaged rows must not fill the log.
    private static let reportsMax = 100

    private let path: String
    private let report: @Sendable (StoreError) -> Void
    private let reported = Mutex<Set<String>>([])

    /// - Parameters:
    ///   - path: the database.
    ///   - report: gets each damaged row, on any thread.
    init(path: String, report: @escaping @Sendable (StoreError) -> Void) {
        self.path = path
        self.report = report
    }

    /// Reads a row for an answer; `nil` if it is damaged, which is reported.
    ///
    /// - Parameter row: the table and the row, as below.
    func skipping<Record>(
        _ row: @autoclosure () -> String,
        _ read: () throws(SQLiteFailure) -> Record?
    ) throws(SQLiteFailure) -> Record? {
        do throws(SQLiteFailure) { return try read() } catch {
            guard error.kind == .corrupt else { throw error }
            found("\(row()) is damaged", "answers leave it out")
            return nil
        }
    }

    /// Reports a damaged row, unless that was done before.
    ///
    /// - Parameters:
    ///   - row: the table and the row, as in "a row of the runs is damaged".
    ///   - outcome: what the store does instead, one clause.
    func found(_ row: String, _ outcome: String) {
        let text = "in \(path), \(row): \(outcome), and all else is kept"
        guard isNew(text) else { return }
        report(
            StoreError(
                text + "; check the disk, and if the row is needed, put the newest copy made by"
                    + " `bghost backup` in the place of the file with `bghost restore --replace`",
                kind: .corrupt
            )
        )
    }

    /// Reports that a question could not be read, unless that was done before.
    ///
    /// Clients repeat their questions, which must not fill the log.
    func failed(_ error: StoreError) {
        if isNew(error.message) { report(error) }
    }

    private func isNew(_ text: String) -> Bool {
        reported.withLock { reported in
            reported.count < Self.reportsMax && reported.insert(text).inserted
        }
    }
}
