// SPDX-License-Identifier: Apache-2.0

/// A plugin's request about its transfers.
package enum TransferCall: Equatable, Sendable {
    case begin(TransferBegin)
    /// Waits for the end of a transfer, for the run of the call.
    case wait(id: String)
    case cancel(id: String)
    /// Lists the transfers of a session after the one with the id `after`, or from the first, as
    /// JSON of at most `bytesMax` bytes; with 0, returns only the length.
    case list(session: String, after: String, bytesMax: UInt32)
    case acknowledge(id: String)
    /// Reports that the plugin has received the end for which the call with this number waited.
    ///
    /// It has no reply.
    case took(call: UInt64)
    /// The run, a wake, does not take these ends.
    case keep(ids: [String])
    /// Hand the run the ends that are kept for a session, as JSON of at most so many bytes; 0 asks for the
    /// length alone.
    case claim(session: String, bytesMax: UInt32)

    var code: UInt16 {
        switch self {
        case .begin: 16
        case .wait: 17
        case .cancel: 18
        case .list: 19
        case .acknowledge: 20
        case .took: 21
        case .keep: 22
        case .claim: 23
        }
    }

    func write(to fields: inout FieldWriter) {
        switch self {
        case .begin(let transfer): transfer.write(to: &fields)
        case .wait(let id), .cancel(let id), .acknowledge(let id): fields.text(id)
        case .list(let session, let after, let bytesMax):
            fields.text(session)
            fields.text(after)
            fields.integer(bytesMax)
        case .took(let call): fields.integer(call)
        case .keep(let ids):
            fields.integer(UInt32(clamping: ids.count))
            for id in ids { fields.text(id) }
        case .claim(let session, let bytesMax):
            fields.text(session)
            fields.integer(bytesMax)
        }
    }

    init(_ code: UInt16, _ fields: inout FieldReader) throws(WireError) {
        switch code {
        case 16: self = .begin(try TransferBegin(&fields))
        case 17: self = .wait(id: try fields.text(bytesMax: Self.idBytesMax))
        case 18: self = .cancel(id: try fields.text(bytesMax: Self.idBytesMax))
        case 19:
            self = .list(
                session: try fields.text(bytesMax: Self.sessionBytesMax),
                after: try fields.text(bytesMax: Self.idBytesMax),
                bytesMax: try fields.integer()
            )
        case 20: self = .acknowledge(id: try fields.text(bytesMax: Self.idBytesMax))
        case 21: self = .took(call: try fields.integer())
        case 22: self = .keep(ids: try Self.ids(&fields))
        case 23:
            self = .claim(
                session: try fields.text(bytesMax: Self.sessionBytesMax),
                bytesMax: try fields.integer()
            )
        default: throw .valueOutOfRange
        }
    }

    private static func ids(_ fields: inout FieldReader) throws(WireError) -> [String] {
        let count = try fields.integer(UInt32.self)
        guard count <= keepMax else { throw .valueOutOfRange }
        var ids: [String] = []
        for _ in 0..<count { ids.append(try fields.text(bytesMax: idBytesMax)) }
        return ids
    }

    /// The most ends of one `keep`.
    package static let keepMax = 1024
    package static let sessionBytesMax = 128
    static let idBytesMax = 32
    package static let continuationBytesMax = 64 << 10
    package static let labelBytesMax = 256
}

/// A transfer to start.
package struct TransferBegin: Equatable, Sendable {
    /// `BG_TRANSFER_*`.
    package var flags: UInt32
    package var session: String
    package var url: String
    package var method: String
    /// Lines `Name: value\n`.
    package var headers: String
    package var body: [UInt8]
    package var file: String
    package var formField: String
    package var formName: String
    package var formType: String
    /// 64 hex digits, or "".
    package var digest: String
    package var continuation: String
    package var label: String
    package var earliestUnixMilliseconds: Int64
    package var bytesMax: Int64
    package var idleTimeoutMilliseconds: Int64
    package var totalTimeoutMilliseconds: Int64

    /// Creates a transfer with default values for everything but its URL and session.
    package init(flags: UInt32 = 0, session: String, url: String) {
        self.flags = flags
        self.session = session
        self.url = url
        method = ""
        headers = ""
        body = []
        file = ""
        formField = ""
        formName = ""
        formType = ""
        digest = ""
        continuation = ""
        label = ""
        earliestUnixMilliseconds = 0
        bytesMax = 0
        idleTimeoutMilliseconds = 0
        totalTimeoutMilliseconds = 0
    }

    func write(to fields: inout FieldWriter) {
        fields.integer(flags)
        for text in [session, url, method, headers] { fields.text(text) }
        body.withUnsafeBytes { fields.text($0) }
        for text in [file, formField, formName, formType, digest, continuation, label] {
            fields.text(text)
        }
        fields.integer(earliestUnixMilliseconds)
        fields.integer(bytesMax)
        fields.integer(idleTimeoutMilliseconds)
        fields.integer(totalTimeoutMilliseconds)
    }

    init(_ fields: inout FieldReader) throws(WireError) {
        flags = try fields.integer()
        session = try fields.text(bytesMax: TransferCall.sessionBytesMax)
        url = try fields.text(bytesMax: Call.urlBytesMax)
        method = try fields.text(bytesMax: 32)
        headers = try fields.text(bytesMax: Call.headerBytesMax)
        body = try fields.bytes(max: Call.bodyBytesMax)
        file = try fields.text(bytesMax: 4096)
        formField = try fields.text(bytesMax: 256)
        formName = try fields.text(bytesMax: 256)
        formType = try fields.text(bytesMax: 256)
        digest = try fields.text(bytesMax: 64)
        continuation = try fields.text(bytesMax: TransferCall.continuationBytesMax)
        label = try fields.text(bytesMax: TransferCall.labelBytesMax)
        earliestUnixMilliseconds = try fields.integer()
        bytesMax = try fields.integer()
        idleTimeoutMilliseconds = try fields.integer()
        totalTimeoutMilliseconds = try fields.integer()
        guard
            min(
                earliestUnixMilliseconds,
                bytesMax,
                idleTimeoutMilliseconds,
                totalTimeoutMilliseconds
            ) >= 0
        else { throw .valueOutOfRange }
    }
}
