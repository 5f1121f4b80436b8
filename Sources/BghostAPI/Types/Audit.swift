// SPDX-License-Identifier: Apache-2.0

package import BghostModel

extension API {
    /// A row of the audit: what was done to the daemon, and by whom.
    package struct AuditRow: Codable, Equatable, Sendable {
        /// Its number, from 1, without gaps.
        package var seq: Int64
        /// When it was done.
        @Formatted<RFC3339> package var at: Int64
        /// By which way: `unix`, `web`, `link`, `signal`, `files` or `start`.
        package var via: String
        /// The number of the user; null if unknown.
        @OrNull package var uid: Int64?
        /// The process; null if unknown.
        @OrNull package var pid: Int64?
        /// The name of the user; null if it has none.
        @EmptyAsNull package var user: String
        /// The session of the dashboard; null if there is none.
        @EmptyAsNull package var session: String
        /// What was done, such as `trigger`.
        package var verb: String
        /// The task, plugin, run or file; null if it concerned the daemon.
        @EmptyAsNull package var target: String
        /// The SHA-256 of what was sent, never its values; null if nothing was.
        @EmptyAsNull package var digest: String
        /// How far it came: `stored`, `begun`, `done`, `failed`, `unchanged` or `refused`.
        @OrDefault package var status: String
        /// The code of its refusal or failure; null if there is none.
        @EmptyAsNull package var code: String
        /// Ids of what was changed, or the number that a beginning and its end share; null if there are none.
        @EmptyAsNull package var refs: String
        /// What it changed, a line for each change; null if that is not kept.
        @EmptyAsNull package var detail: String
        /// `sum` of the row before.
        @OrDefault package var prev: String
        /// The SHA-256 of `prev` and of all values of this row.
        @OrDefault package var sum: String

        package init(_ row: BghostModel.AuditRow) {
            let (entry, actor) = (row.entry, row.entry.actor)
            seq = row.seq
            at = entry.at
            via = actor.way.rawValue
            uid = actor.uid.map(Int64.init)
            pid = actor.pid.map(Int64.init)
            user = actor.user
            session = actor.session
            verb = entry.verb
            target = entry.target
            digest = AuditHead.digits(entry.digest)
            status = entry.status.rawValue
            code = entry.code
            refs = entry.refs
            detail = entry.detail
            prev = AuditHead.digits(row.prev)
            sum = AuditHead.digits(row.sum)
        }
    }

    /// Rows of the audit.
    package struct AuditRows: Codable, Equatable, Sendable {
        /// The rows, the newest first; the oldest first if `after` was given.
        @Elements package var rows: [AuditRow]
        /// The `before`, or `after`, of the next page; null if there is none.
        @OrNull package var next: Int64?
        /// The number of the newest row; 0 if there is none.
        @OrDefault package var newest: Int64

        package init(_ page: AuditPage) {
            rows = page.rows.map(AuditRow.init)
            next = page.next
            newest = page.newest
        }
    }

    /// What a look at the whole chain of the audit found.
    package struct AuditCheck: Codable, Equatable, Sendable {
        /// The first place where the chain is broken.
        package struct Break: Codable, Equatable, Sendable {
            /// The number of the row.
            package var seq: Int64
            /// What is wrong there, for people.
            @OrDefault package var what: String
        }

        /// Whether no row was changed or removed in between.
        package var intact: Bool
        /// The rows that were compared.
        @OrDefault package var rows: Int64
        /// The rows before the first that were deleted, for their age or for room.
        @OrDefault package var deleted: Int64
        /// The last row that was compared, its number and its sum, as in the log; null if there is none.
        @EmptyAsNull package var head: String
        /// The first break; null if there is none.
        @OrNull package var firstBreak: Break?

        package init(_ verdict: AuditVerdict) {
            intact = verdict.firstBreak == nil
            rows = verdict.rows
            deleted = verdict.deleted
            head = verdict.head?.text ?? ""
            firstBreak = verdict.firstBreak.map { Break(seq: $0.seq, what: $0.what) }
        }
    }
}
