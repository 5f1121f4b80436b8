// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// By which way a client or a signal acted on the daemon.
///
/// Any text is possible, since a row of the store may be damaged.
package struct AuditWay: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// A client of the control socket.
    package static let socket = AuditWay(rawValue: "unix")
    /// A session of the dashboard, or a browser that has none.
    package static let dashboard = AuditWay(rawValue: "web")
    /// The link of a notification's action.
    package static let link = AuditWay(rawValue: "link")
    /// A signal to the daemon.
    package static let signal = AuditWay(rawValue: "signal")
    /// A change of the manifest's files, which the daemon noticed.
    package static let files = AuditWay(rawValue: "files")
    /// The start of the daemon.
    package static let start = AuditWay(rawValue: "start")
}

/// How far a change of a row came.
package struct AuditStatus: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// The change is in the transaction of the row.
    package static let stored = AuditStatus(rawValue: "stored")
    /// The daemon is about to do what is not stored.
    package static let begun = AuditStatus(rawValue: "begun")
    /// What was begun has succeeded.
    package static let done = AuditStatus(rawValue: "done")
    /// What was begun has failed.
    package static let failed = AuditStatus(rawValue: "failed")
    /// The request was permitted, and there was nothing to change.
    package static let unchanged = AuditStatus(rawValue: "unchanged")
    /// The request was refused.
    package static let refused = AuditStatus(rawValue: "refused")
}

/// Who acted on the daemon.
package struct AuditActor: Equatable, Sendable {
    package var way: AuditWay
    /// `nil` if the kernel does not tell, as of a link or of a signal.
    package var uid: UInt32?
    package var pid: Int32?
    /// The name of the user, as the machine has it; "" if it has none.
    package var user: String
    /// The session of the dashboard: a part of the hash of its token; "" if there is none.
    package var session: String

    package init(
        _ way: AuditWay,
        uid: UInt32? = nil,
        pid: Int32? = nil,
        user: String = "",
        session: String = ""
    ) {
        self.way = way
        self.uid = uid
        self.pid = pid
        self.user = user.prefix(bytes: AuditEntry.nameBytesMax)
        self.session = session.prefix(bytes: AuditEntry.nameBytesMax)
    }
}

/// What was done to the daemon, by whom and by which way; never the values that were sent to it.
package struct AuditEntry: Equatable, Sendable {
    /// Unix nanoseconds by the clock of the machine, also while another one is simulated.
    package var at: Int64
    package var actor: AuditActor
    /// Such as `trigger`.
    package var verb: String
    /// The task, plugin, run or file; "" if the verb concerns the daemon.
    package var target: String
    /// The SHA-256 of what was sent: the body, or of a request without one its query; empty if nothing was.
    package var digest: [UInt8]
    package var status: AuditStatus
    /// The code of the refusal or failure, such as BG4013; "" if there is none.
    package var code: String
    /// What the row is about: ids of requests, or the number that the rows of a begin and its end share.
    package var refs: String
    /// What it changed, a line for each change without a final line break; "" if that is not kept.
    ///
    /// A reload keeps the differences of the two manifests, without values that may be secret.
    package var detail: String

    package static let nameBytesMax = 128
    package static let targetBytesMax = 300
    package static let refsBytesMax = 300
    package static let detailBytesMax = 8192

    /// Cuts texts that are too long.
    package init(
        at: Int64,
        _ actor: AuditActor,
        verb: String,
        target: String = "",
        digest: [UInt8] = [],
        status: AuditStatus,
        code: String = "",
        refs: String = "",
        detail: String = ""
    ) {
        self.at = at
        self.actor = actor
        self.verb = verb.prefix(bytes: Self.nameBytesMax)
        self.target = target.prefix(bytes: Self.targetBytesMax)
        self.digest = Array(digest.prefix(32))
        self.status = status
        self.code = code.prefix(bytes: Self.nameBytesMax)
        self.refs = refs.prefix(bytes: Self.refsBytesMax)
        self.detail = detail.prefix(bytes: Self.detailBytesMax)
    }

    /// The approximate size of its row, bytes.
    package var approximateBytes: Int {
        200 + actor.user.utf8.count + actor.session.utf8.count + verb.utf8.count
            + target.utf8.count + refs.utf8.count + detail.utf8.count
    }
}

/// A row of the audit: an entry in its place in the chain.
package struct AuditRow: Equatable, Sendable {
    /// Its number, from 1, without gaps.
    package var seq: Int64
    package var entry: AuditEntry
    /// `sum` of the row before.
    package var prev: [UInt8]
    /// The SHA-256 of ``canonical``.
    package var sum: [UInt8]

    package init(seq: Int64, _ entry: AuditEntry, prev: [UInt8], sum: [UInt8]) {
        self.seq = seq
        self.entry = entry
        self.prev = prev
        self.sum = sum
    }

    /// The bytes that `sum` is the hash of: `prev`, and each value with its length.
    package var canonical: [UInt8] {
        var bytes = Array("bghost.audit/1\n".utf8)
        bytes.reserveCapacity(400)
        func add(_ value: Int64) {
            withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
        }
        func add(_ field: [UInt8]) {
            add(Int64(field.count))
            bytes.append(contentsOf: field)
        }
        func add(_ text: String) {
            add(Int64(text.utf8.count))
            bytes.append(contentsOf: text.utf8)
        }
        add(prev)
        add(seq)
        add(entry.at)
        add(entry.actor.way.rawValue)
        add(entry.actor.uid.map(Int64.init) ?? -1)
        add(entry.actor.pid.map(Int64.init) ?? -1)
        add(entry.actor.user)
        add(entry.actor.session)
        add(entry.verb)
        add(entry.target)
        add(entry.digest)
        add(entry.status.rawValue)
        add(entry.code)
        add(entry.refs)
        // Rows of stores before format 11 have none.
        if !entry.detail.isEmpty { add(entry.detail) }
        return bytes
    }
}
