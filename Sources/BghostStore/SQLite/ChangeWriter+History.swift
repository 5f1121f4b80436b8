// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// Rows of the history that no decision depends on.
extension ChangeWriter {
    /// - Returns: the row's number; `nil` if the run has printed nothing, or if a damaged row leaves no number
    ///   for it.
    func keepOutput(of record: RunRecord, _ now: Int64) throws(SQLiteFailure) -> Int64? {
        guard let output = record.details?.output, !output.isEmpty else { return nil }
        let place = sizes.outputs.append(bytes: TableSizes.outputOverhead + output.utf8.count)
        let isStored = try insertIfFree(statements.insertOutput, "what runs printed") { row in
            row.add(place.seq)
            row.add(now)
            row.add(place.size)
            row.add(record.outcome == .succeeded ? 1 : 0)
            row.restartSum()
            row.add(output)
            row.addSum()
        }
        return isStored ? place.seq : nil
    }

    /// Not counted: it comes with the change of its request or run.
    func keep(_ start: SkippedStart, _ now: Int64) throws(SQLiteFailure) {
        let place = sizes.starts.append(bytes: 0)
        try insertIfFree(statements.insertStart, "the starts that did not happen") { row in
            row.add(place.seq)
            row.add(now)
            row.restartSum()
            SkippedStartColumns.bind(start, to: &row)
        }
    }

    /// Inserts a row with the number after the newest one, or leaves it out if another row has that number.
    ///
    /// That happens only after the number of a row was damaged. The change that the row comes with must be
    /// stored all the same.
    ///
    /// - Returns: whether the row was inserted.
    @discardableResult
    private func insertIfFree(
        _ statement: Statement,
        _ table: String,
        _ bind: (inout Arguments) -> Void
    ) throws(SQLiteFailure) -> Bool {
        do throws(SQLiteFailure) {
            try statement.run(bind)
            return true
        } catch  where error.isNumberTaken {
            damaged.found(
                "the number of a row of \(table) is damaged",
                "new rows are left out while another row has their number"
            )
            return false
        }
    }
}
