// SPDX-License-Identifier: Apache-2.0

/// The daemon's answer to a call, on the control socket.
///
/// The frame's subject is the call's number.
package struct Reply: Equatable, Sendable {
    package enum Body: Equatable, Sendable {
        /// The status says it all.
        case none
        /// A page of the plugin's pending requests.
        case pending([PendingEntry])
        /// The end of a fetch.
        case fetched(httpStatus: Int32, headers: String, message: String, body: FetchedBody)
        /// How things stand.
        case situation(Situation)
        /// The id of a transfer.
        case transfer(id: String)
        /// Transfers as JSON.
        case transfers(FetchedBody)
        /// How much room an answer would need that did not fit, bytes.
        case needs(UInt64)
    }

    /// Where a fetched body is.
    ///
    /// Short ones ride in the frame; longer ones come as the descriptor of a sealed memory file,
    /// passed with the packet, so that no frame needs more than its limit.
    package enum FetchedBody: Equatable, Sendable {
        case inline([UInt8])
        case descriptor(bytes: UInt64)
    }

    /// The longest body that rides in the frame.
    package static let inlineBodyBytesMax = 32 << 10

    package var call: UInt64
    /// A `BG_OK` or `BG_E_*`.
    package var status: Int32
    package var body: Body

    package init(call: UInt64, status: Int32, body: Body = .none) {
        self.call = call
        self.status = status
        self.body = body
    }

    package func write(to packets: inout PacketWriter) -> Bool {
        packets.frame(.reply, subject: call) { fields in
            fields.integer(status)
            switch body {
            case .none: fields.integer(UInt8(0))
            case .pending(let entries):
                fields.integer(UInt8(1))
                fields.integer(UInt32(entries.count))
                for entry in entries {
                    fields.text(entry.task)
                    fields.integer(entry.kind)
                    fields.integer(entry.earliestUnixMilliseconds)
                }
            case .fetched(let http, let headers, let message, let body):
                fields.integer(UInt8(2))
                fields.integer(http)
                fields.text(headers)
                fields.text(message)
                body.write(to: &fields)
            case .situation(let situation):
                fields.integer(UInt8(3))
                fields.integer(situation.refresh)
                fields.integer(situation.reasons)
                fields.integer(situation.missedCount)
                fields.integer(situation.missedFromUnixMilliseconds)
            case .transfer(let id):
                fields.integer(UInt8(16))
                fields.text(id)
            case .transfers(let body):
                fields.integer(UInt8(17))
                body.write(to: &fields)
            case .needs(let count):
                fields.integer(UInt8(18))
                fields.integer(count)
            }
        }
    }

    package init(_ frame: borrowing Frame) throws(WireError) {
        var fields = FieldReader(frame.payload)
        call = frame.subject
        status = try fields.integer()
        switch try fields.integer(UInt8.self) {
        case 0: body = .none
        case 1:
            var entries: [PendingEntry] = []
            let count = try fields.integer(UInt32.self)
            guard count <= 4096 else { throw .valueOutOfRange }
            for _ in 0..<count {
                entries.append(
                    PendingEntry(
                        task: try fields.text(bytesMax: 128),
                        kind: try fields.integer(),
                        earliestUnixMilliseconds: try fields.integer()
                    )
                )
            }
            body = .pending(entries)
        case 2:
            let http: Int32 = try fields.integer()
            let headers = try fields.text(bytesMax: FrameLayout.packetBytesMax)
            let message = try fields.text(bytesMax: FrameLayout.packetBytesMax)
            body = .fetched(
                httpStatus: http,
                headers: headers,
                message: message,
                body: try FetchedBody(&fields)
            )
        case 3:
            body = .situation(
                Situation(
                    refresh: try fields.integer(),
                    reasons: try fields.integer(),
                    missedCount: try fields.integer(),
                    missedFromUnixMilliseconds: try fields.integer()
                )
            )
        case 16: body = .transfer(id: try fields.text(bytesMax: 32))
        case 17: body = .transfers(try FetchedBody(&fields))
        case 18: body = .needs(try fields.integer())
        default: throw .valueOutOfRange
        }
        try fields.end()
    }
}

extension Reply.FetchedBody {
    fileprivate func write(to fields: inout FieldWriter) {
        switch self {
        case .inline(let bytes):
            fields.integer(UInt8(0))
            bytes.withUnsafeBytes { fields.text($0) }
        case .descriptor(let count):
            fields.integer(UInt8(1))
            fields.integer(count)
        }
    }

    fileprivate init(_ fields: inout FieldReader) throws(WireError) {
        switch try fields.integer(UInt8.self) {
        case 0: self = .inline(try fields.bytes(max: Reply.inlineBodyBytesMax))
        case 1: self = .descriptor(bytes: try fields.integer())
        default: throw .valueOutOfRange
        }
    }
}

/// How things stand for a plugin and a run of it.
package struct Situation: Equatable, Sendable {
    /// A `BG_REFRESH_*`.
    package var refresh: UInt32
    /// `BG_RESTRICTED_*`.
    package var reasons: UInt32
    /// How many times of its schedule the run stands for besides its own.
    package var missedCount: UInt64
    package var missedFromUnixMilliseconds: Int64

    package init(
        refresh: UInt32,
        reasons: UInt32 = 0,
        missedCount: UInt64 = 0,
        missedFromUnixMilliseconds: Int64 = 0
    ) {
        self.refresh = refresh
        self.reasons = reasons
        self.missedCount = missedCount
        self.missedFromUnixMilliseconds = missedFromUnixMilliseconds
    }
}

/// One pending request, as its plugin sees it.
package struct PendingEntry: Equatable, Sendable {
    package var task: String
    /// `BG_KIND_*`.
    package var kind: UInt32
    package var earliestUnixMilliseconds: Int64

    package init(task: String, kind: UInt32, earliestUnixMilliseconds: Int64) {
        self.task = task
        self.kind = kind
        self.earliestUnixMilliseconds = earliestUnixMilliseconds
    }
}
