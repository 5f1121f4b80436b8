// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
internal import BghostPolicy

/// Rows of the history that no decision depends on.
extension ChangeWriter {
    /// - Returns: the row's number; `nil` if the run has printed nothing.
    func keepOutput(of record: RunRecord, _ now: Int64) throws(SQLiteFailure) -> Int64? {
        guard let output = record.details?.output, !output.isEmpty else { return nil }
        let place = sizes.outputs.append(bytes: TableSizes.outputOverhead + output.utf8.count)
        try statements.insertOutput.run { row in
            row.add(place.seq)
            row.add(now)
            row.add(place.size)
            row.add(record.outcome == .succeeded ? 1 : 0)
            row.restartSum()
            row.add(output)
            row.addSum()
        }
        return place.seq
    }

    /// Not counted: it comes with the change of its request or run.
    func keep(_ start: SkippedStart, _ now: Int64) throws(SQLiteFailure) {
        let place = sizes.starts.append(bytes: 0)
        try statements.insertStart.run { row in
            row.add(place.seq)
            row.add(now)
            row.restartSum()
            SkippedStartColumns.bind(start, to: &row)
        }
    }
}
