// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// Writes the origins of runs, each only once.
final class OriginWriter {
    private let statements: WriterStatements
    /// The rows of origins that were used since this object was created.
    private var rows: [RunOrigin: Int64] = [:]

    private let damaged: DamagedRows

    init(_ statements: WriterStatements, _ damaged: DamagedRows) {
        self.statements = statements
        self.damaged = damaged
    }

    /// Call it when a transaction is rolled back, since that may have contained some.
    func forget() { rows = [:] }

    /// The row of a run's origin, which is inserted for the first run that has it; `nil` if the run
    /// has none, or if a damaged row leaves no number for it.
    func row(of record: RunRecord) throws(SQLiteFailure) -> Int64? {
        guard let origin = record.origin else { return nil }
        if let known = rows[origin] { return known }
        var number = try stored(origin)
        if number == nil {
            guard try insert(origin) else { return nil }
            try statements.trimOrigins.run { $0.add(RunOrigin.keptMax) }
            number = try stored(origin)
        }
        // The oldest row may have been deleted from the table.
        if rows.count >= RunOrigin.keptMax / 2 { rows = [:] }
        rows[origin] = number
        return number
    }

    /// - Returns: whether there was a number for it.
    private func insert(_ origin: RunOrigin) throws(SQLiteFailure) -> Bool {
        do throws(SQLiteFailure) {
            try statements.insertOrigin.run { row in
                row.add(origin.version)
                row.add(origin.library)
                row.add(origin.manifest)
                row.addSum()
            }
            return true
        } catch  where error.isNumberTaken {
            damaged.found(
                "the number of a row of the origins of runs is damaged",
                "runs are stored without the version of their plugin and manifest"
            )
            return false
        }
    }

    private func stored(_ origin: RunOrigin) throws(SQLiteFailure) -> Int64? {
        var number: Int64?
        try statements.findOrigin.rows({ row in
            row.add(origin.version)
            row.add(origin.library)
            row.add(origin.manifest)
        }) { row in
            number = row.int()
            return false
        }
        return number
    }
}
