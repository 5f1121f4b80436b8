// SPDX-License-Identifier: Apache-2.0

internal import BghostAudit
internal import BghostModel

/// The audit of a store that lasts as long as its process: the last `rowsMax` rows.
struct MemoryAudit {
    private static let rowsMax = 10_000

    private var rows: [AuditRow] = []
    private var anchor = AuditHead(seq: 0, sum: AuditChain.start)

    var head: AuditHead? { rows.last.map { AuditHead(seq: $0.seq, sum: $0.sum) } }

    mutating func write(_ entry: AuditEntry) {
        rows.append(AuditChain.row(entry, after: head ?? anchor))
        guard rows.count > 2 * Self.rowsMax else { return }
        let last = rows[Self.rowsMax - 1]
        anchor = AuditHead(seq: last.seq, sum: last.sum)
        rows.removeFirst(Self.rowsMax)
    }

    func page(_ query: AuditQuery) -> AuditPage {
        var page = AuditPage(newest: rows.last?.seq ?? 0)
        let isUpward = query.after != nil
        var last: Int64?
        for row in isUpward ? rows : rows.reversed() {
            guard row.seq < query.before ?? .max, row.seq > query.after ?? .min else { continue }
            guard page.rows.count < query.limit else {
                page.next = last
                break
            }
            last = row.seq
            if query.matches(row.entry) { page.rows.append(row) }
        }
        return page
    }

    func advance(_ check: AuditCheck) -> AuditCheck {
        var check = check
        check.begin(after: anchor)
        for row in rows where row.seq > check.last?.seq ?? 0 {
            check.add(row)
            if check.isFinished { break }
        }
        check.finish()
        return check
    }
}
