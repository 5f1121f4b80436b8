// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// The rows of the audit.
enum AuditColumns {
    static let names = """
        seq, at, via, uid, pid, user, session, verb, target, digest, status, code, refs, prev, sum,
        detail
        """

    static func bind(_ row: AuditRow, size: Int64, to arguments: inout Arguments) {
        let entry = row.entry
        arguments.add(row.seq)
        arguments.add(entry.at)
        arguments.add(entry.actor.way.rawValue)
        arguments.add(entry.actor.uid.map(Int64.init))
        arguments.add(entry.actor.pid.map(Int64.init))
        arguments.add(entry.actor.user)
        arguments.add(entry.actor.session)
        arguments.add(entry.verb)
        arguments.add(entry.target)
        arguments.add(entry.digest)
        arguments.add(entry.status.rawValue)
        arguments.add(entry.code)
        arguments.add(entry.refs)
        arguments.add(row.prev)
        arguments.add(row.sum)
        arguments.add(entry.detail)
        arguments.add(size)
    }

    /// Reads a row as it is in the file: whether it belongs to the chain is found by `AuditCheck`.
    static func read(_ row: inout Row) -> AuditRow {
        let (seq, at) = (row.int(), row.int())
        var actor = AuditActor(AuditWay(rawValue: row.text()))
        actor.uid = row.optionalInt().flatMap(UInt32.init(exactly:))
        actor.pid = row.optionalInt().flatMap(Int32.init(exactly:))
        actor.user = row.text()
        actor.session = row.text()
        var entry = AuditEntry(at: at, actor, verb: "", status: .stored)
        entry.verb = row.text()
        entry.target = row.text()
        entry.digest = row.bytes()
        entry.status = AuditStatus(rawValue: row.text())
        entry.code = row.text()
        entry.refs = row.text()
        let (prev, sum) = (row.bytes(), row.bytes())
        entry.detail = row.text()
        return AuditRow(seq: seq, entry, prev: prev, sum: sum)
    }
}
