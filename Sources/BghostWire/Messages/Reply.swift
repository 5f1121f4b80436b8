// SPDX-License-Identifier: Apache-2.0

/// The daemon's reply to a call, on the control socket.
///
/// The frame's subject is the call's number.
package struct Reply: Equatable, Sendable {
    package enum Body: Equatable, Sendable {
        /// There is only the status.
        case none
        /// A page of the plugin's pending requests, and the start of the next one; 0 after the last
        /// page.
        case pending([PendingEntry], next: UInt64)
        /// The end of a fetch.
        case fetched(httpStatus: Int32, headers: String, message: String, body: FetchedBody)
        /// The situation of the plugin and a run.
        case situation(Situation)
        /// The checkpoint of a request.
        case checkpoint(FetchedBody)
        /// The id of a transfer.
        case transfer(id: String)
        /// Transfers as JSON.
        case transfers(FetchedBody)
        /// The size in bytes of a result that did not fit.
        case needs(UInt64)
    }

    /// The location of a fetched body.
    ///
    /// A short body is in the frame. A longer one is in `ReplyPart` frames of the same call, which
    /// the daemon sends before the reply as the worker accepts them. So the daemon knows how many
    /// bytes it holds for a worker that does not read; with a memory file, bytes in flight would
    /// not be counted.
    package enum FetchedBody: Equatable, Sendable {
        case inline([UInt8])
        case parts(bytes: UInt64)
    }

    /// The longest body inside the frame.
    package static let inlineBodyBytesMax = 32 << 10

    package var call: UInt64
    /// `BG_OK` or a `BG_E_*`.
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
            case .pending(let entries, let next):
                fields.integer(UInt8(1))
                fields.integer(UInt32(entries.count))
                for entry in entries {
                    fields.text(entry.task)
                    fields.integer(entry.kind)
                    fields.integer(entry.earliestUnixMilliseconds)
                    fields.integer(entry.needs)
                }
                fields.integer(next)
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
            case .checkpoint(let body):
                fields.integer(UInt8(4))
                body.write(to: &fields)
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
                        earliestUnixMilliseconds: try fields.integer(),
                        needs: try fields.integer()
                    )
                )
            }
            body = .pending(entries, next: try fields.integer())
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
        case 4: body = .checkpoint(try FetchedBody(&fields))
        case 16: body = .transfer(id: try fields.text(bytesMax: 32))
        case 17: body = .transfers(try FetchedBody(&fields))
        case 18: body = .needs(try fields.integer())
        default: throw .valueOutOfRange
        }
        try fields.end()
    }
}

/// A part of a body that is too long for its reply's frame.
///
/// The frame's subject is the call's number. The parts of a body arrive in order, before the reply.
package struct ReplyPart: Equatable, Sendable {
    package var call: UInt64
    package var bytes: [UInt8]

    package static let bytesMax = 64 << 10

    package init(call: UInt64, bytes: [UInt8]) {
        self.call = call
        self.bytes = bytes
    }

    package func write(to packets: inout PacketWriter) -> Bool {
        packets.frame(.part, subject: call) { $0.bytes(bytes) }
    }

    package init(_ frame: borrowing Frame) throws(WireError) {
        var fields = FieldReader(frame.payload)
        call = frame.subject
        bytes = try fields.bytes(max: Self.bytesMax)
        try fields.end()
    }
}

extension Reply.FetchedBody {
    fileprivate func write(to fields: inout FieldWriter) {
        switch self {
        case .inline(let bytes):
            fields.integer(UInt8(0))
            bytes.withUnsafeBytes { fields.text($0) }
        case .parts(let count):
            fields.integer(UInt8(2))
            fields.integer(count)
        }
    }

    fileprivate init(_ fields: inout FieldReader) throws(WireError) {
        switch try fields.integer(UInt8.self) {
        case 0: self = .inline(try fields.bytes(max: Reply.inlineBodyBytesMax))
        case 2: self = .parts(bytes: try fields.integer())
        default: throw .valueOutOfRange
        }
    }
}

/// The situation of a plugin and of one of its runs.
package struct Situation: Equatable, Sendable {
    /// A `BG_REFRESH_*`.
    package var refresh: UInt32
    /// `BG_RESTRICTED_*`.
    package var reasons: UInt32
    /// How many missed starts the run stands for, besides its own.
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
    /// `BG_NEEDS_*`.
    package var needs: UInt32

    package init(task: String, kind: UInt32, earliestUnixMilliseconds: Int64, needs: UInt32 = 0) {
        self.task = task
        self.kind = kind
        self.earliestUnixMilliseconds = earliestUnixMilliseconds
        self.needs = needs
    }
}
