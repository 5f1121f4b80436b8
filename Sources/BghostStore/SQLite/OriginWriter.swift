// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// Writes the origins of runs, each only once.
final class OriginWriter {
    private let statements: WriterStatements
    /// The rows of origins that were used since this object was created.
    private var rows: [RunOrigin: Int64] = [:]

    init(_ statements: WriterStatements) { self.statements = statements }

    /// Call it when a transaction is rolled back, since that may have contained some.
    func forget() { rows = [:] }

    /// The row of a run's origin, which is inserted for the first run that has it; `nil` if the run
    /// has none.
    func row(of record: RunRecord) throws(SQLiteFailure) -> Int64? {
        guard let origin = record.origin else { return nil }
        if let known = rows[origin] { return known }
        var number = try stored(origin)
        if number == nil {
            try statements.insertOrigin.run { row in
                row.add(origin.version)
                row.add(origin.library)
                row.add(origin.manifest)
                row.addSum()
            }
            try statements.trimOrigins.run { $0.add(RunOrigin.keptMax) }
            number = try stored(origin)
        }
        // The oldest row may have been deleted from the table.
        if rows.count >= RunOrigin.keptMax / 2 { rows = [:] }
        rows[origin] = number
        return number
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
