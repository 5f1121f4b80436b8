// SPDX-License-Identifier: Apache-2.0

internal import BghostCrypto
package import BghostModel

/// The chain of hashes over the rows of the audit.
///
/// It shows that a row was changed, or removed between two others. A user who may write the file can make
/// a whole new chain; the head in the log shows that, and that the newest rows were cut off.
package enum AuditChain {
    /// What the first row continues from.
    package static let start = [UInt8](repeating: 0, count: 32)

    /// The row of an entry after others.
    package static func row(_ entry: AuditEntry, after head: AuditHead) -> AuditRow {
        var row = AuditRow(seq: head.seq &+ 1, entry, prev: head.sum, sum: [])
        row.sum = sum(of: row)
        return row
    }

    package static func sum(of row: AuditRow) -> [UInt8] { SHA256.hash(data: row.canonical) }
}

/// A look at the whole chain, in pieces.
package struct AuditCheck: Equatable, Sendable {
    /// The head that the log had, which must be in the chain.
    private let expected: AuditHead?
    /// The row before the next one; `nil` before the first piece.
    package private(set) var last: AuditHead?
    package private(set) var verdict = AuditVerdict()
    package private(set) var isFinished = false

    package init(expecting head: AuditHead? = nil) { expected = head }

    /// Begins after the rows that were deleted, which may happen between two pieces too.
    package mutating func begin(after anchor: AuditHead) {
        verdict.deleted = anchor.seq
        guard let last, last.seq >= anchor.seq else {
            last = anchor
            return
        }
    }

    /// Compares the next row.
    package mutating func add(_ row: AuditRow) {
        let before = last ?? AuditHead(seq: 0, sum: AuditChain.start)
        if row.seq != before.seq &+ 1 {
            let gap = row.seq &- before.seq &- 1
            fail(before.seq &+ 1, gap == 1 ? "the row is missing" : "\(gap) rows are missing")
        } else if row.sum != AuditChain.sum(of: row) {
            fail(row.seq, "the row was changed: its values do not have its sum")
        } else if row.prev != before.sum {
            fail(row.seq, "the row does not continue from the row before it")
        } else if let expected, expected.seq == row.seq, expected.sum != row.sum {
            fail(row.seq, "the row is not the one whose sum the log has")
        }
        guard !isFinished else { return }
        verdict.rows += 1
        last = AuditHead(seq: row.seq, sum: row.sum)
        verdict.head = last
    }

    /// Ends the look after the last row.
    package mutating func finish() {
        guard !isFinished else { return }
        isFinished = true
        let end = last?.seq ?? 0
        if let expected, expected.seq > end {
            verdict.firstBreak = .init(
                seq: end &+ 1,
                what: "the rows from here on are missing: the log has row \(expected.seq)"
            )
        }
    }

    private mutating func fail(_ seq: Int64, _ what: String) {
        verdict.firstBreak = .init(seq: seq, what: what)
        isFinished = true
    }
}
