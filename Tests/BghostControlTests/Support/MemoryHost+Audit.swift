// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostModel

/// The audit of the host in memory, without a chain.
extension MemoryHost {
    // MARK: - What tests do

    /// Refuses rows from now on, as a full disk does to a daemon that requires the audit.
    func refuseRows() { refusesRows = true }

    // MARK: - HostControl

    func requireAudit() throws(OperatorRefusal) {
        guard !refusesRows else {
            throw OperatorRefusal(.auditFailed, "nothing was done: no space", fix: "make room")
        }
    }

    func note(_ entry: AuditEntry) throws(OperatorRefusal) {
        try requireAudit()
        noteLater(entry)
    }

    func noteLater(_ entry: AuditEntry) { audited.append(entry) }

    func noteEnd(_ entry: AuditEntry) { audited.append(entry) }

    func noteBounded(_ entry: AuditEntry) { audited.append(entry) }

    func audit(_ question: AuditQuestion) throws(OperatorRefusal) -> AuditPage {
        if question.since == "soon" {
            throw OperatorRefusal(.badTime, "`soon` is no time for `since`", fix: "give a date")
        }
        let rows = audited.enumerated().filter { question.query.matches($0.element) }
            .map { AuditRow(seq: Int64($0.offset + 1), $0.element, prev: [1], sum: [2]) }
        let newest = Array(rows.reversed().prefix(question.query.limit))
        return AuditPage(rows: newest, newest: Int64(audited.count))
    }

    func checkAudit(expecting head: AuditHead?) -> AuditVerdict {
        var verdict = AuditVerdict()
        verdict.rows = Int64(audited.count)
        if let head, head.seq > verdict.rows {
            verdict.firstBreak = .init(seq: verdict.rows + 1, what: "the rows are missing")
        }
        return verdict
    }
}
