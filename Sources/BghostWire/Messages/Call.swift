// SPDX-License-Identifier: Apache-2.0

/// A plugin's request to the daemon.
///
/// The frame's subject is the number of the call, which the worker chooses and the reply repeats.
package struct Call: Equatable, Sendable {
    package static let urlBytesMax = 8 << 10
    package static let headerBytesMax = 32 << 10
    package static let bodyBytesMax = 64 << 10
    /// The longest checkpoint, `BG_CHECKPOINT_MAX`.
    package static let checkpointBytesMax = 64 << 10

    package enum Operation: Equatable, Sendable {
        case submit(
            task: String,
            parameters: String,
            kind: UInt32,
            earliestUnixMilliseconds: Int64,
            needs: UInt32
        )
        case cancelPending(task: String)
        case cancelAllPending
        /// A page of the plugin's pending requests: 0 for the first, otherwise the start that the
        /// previous page returned.
        case pending(from: UInt64)
        case fetch(FetchCall)
        /// Cancels the fetch that the call with this number started.
        case cancelFetch(call: UInt64)
        /// Asks for the situation of the plugin and, unless `run` is 0, of one of its runs.
        case situation(run: UInt64)
        /// Saves the checkpoint of the run's request; no bytes delete it.
        case saveCheckpoint([UInt8])
        /// Asks for the checkpoint of the run's request.
        case loadCheckpoint
        case post(NotificationPost)
        case withdrawNotification(id: String)
        /// Lists the plugin's notifications that are not delivered yet.
        case notifications
        case transfer(TransferCall)
    }

    package var number: UInt64
    /// The run that makes the request; 0 for the plugin as a whole.
    package var run: UInt64
    package var operation: Operation

    package init(number: UInt64, run: UInt64, operation: Operation) {
        self.number = number
        self.run = run
        self.operation = operation
    }

    package func write(to packets: inout PacketWriter) -> Bool {
        packets.frame(.call, flags: operation.code, subject: number) { fields in
            fields.integer(run)
            switch operation {
            case .submit(let task, let parameters, let kind, let earliest, let needs):
                fields.text(task)
                fields.text(parameters)
                fields.integer(kind)
                fields.integer(earliest)
                fields.integer(needs)
            case .cancelPending(let task): fields.text(task)
            case .cancelAllPending: break
            case .pending(let from): fields.integer(from)
            case .fetch(let fetch): fetch.write(to: &fields)
            case .cancelFetch(let call): fields.integer(call)
            case .situation(let run): fields.integer(run)
            case .saveCheckpoint(let bytes): bytes.withUnsafeBytes { fields.text($0) }
            case .loadCheckpoint: break
            case .post(let post): post.write(to: &fields)
            case .withdrawNotification(let id): fields.text(id)
            case .notifications: break
            case .transfer(let call): call.write(to: &fields)
            }
        }
    }

    package init(_ frame: borrowing Frame) throws(WireError) {
        var fields = FieldReader(frame.payload)
        number = frame.subject
        run = try fields.integer()
        switch frame.flags {
        case 1:
            operation = .submit(
                task: try fields.text(bytesMax: 1024),
                parameters: try fields.text(bytesMax: FrameLayout.packetBytesMax),
                kind: try fields.integer(),
                earliestUnixMilliseconds: try fields.integer(),
                needs: try fields.integer()
            )
        case 2: operation = .cancelPending(task: try fields.text(bytesMax: 1024))
        case 3: operation = .cancelAllPending
        case 4: operation = .pending(from: try fields.integer())
        case 5: operation = .fetch(try FetchCall(&fields))
        case 6: operation = .cancelFetch(call: try fields.integer())
        case 7: operation = .situation(run: try fields.integer())
        case 8: operation = .saveCheckpoint(try fields.bytes(max: Self.checkpointBytesMax))
        case 9: operation = .loadCheckpoint
        case 32: operation = .post(try NotificationPost(&fields))
        case 33:
            operation = .withdrawNotification(
                id: try fields.text(bytesMax: NotificationPost.nameBytesMax)
            )
        case 34: operation = .notifications
        case let code: operation = .transfer(try TransferCall(code, &fields))
        }
        try fields.end()
    }
}

extension Call.Operation {
    /// Whether this is a submission, which may come from a run that is already over.
    package var isSubmit: Bool {
        if case .submit = self { return true }
        return false
    }

    var code: UInt16 {
        switch self {
        case .submit: 1
        case .cancelPending: 2
        case .cancelAllPending: 3
        case .pending: 4
        case .fetch: 5
        case .cancelFetch: 6
        case .situation: 7
        case .saveCheckpoint: 8
        case .loadCheckpoint: 9
        case .post: 32
        case .withdrawNotification: 33
        case .notifications: 34
        case .transfer(let call): call.code
        }
    }
}

/// An HTTP request that the daemon carries out.
package struct FetchCall: Equatable, Sendable {
    package var url: String
    package var method: String
    /// Lines `Name: value\n`.
    package var headers: String
    package var body: [UInt8]
    /// The path of a file to send as the body, or "".
    package var bodyFile: String
    package var sendsDigest: Bool
    package var bytesMax: Int64
    package var timeoutMilliseconds: Int64

    package init(
        url: String,
        method: String,
        headers: String,
        body: [UInt8],
        bodyFile: String,
        sendsDigest: Bool,
        bytesMax: Int64,
        timeoutMilliseconds: Int64
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.bodyFile = bodyFile
        self.sendsDigest = sendsDigest
        self.bytesMax = bytesMax
        self.timeoutMilliseconds = timeoutMilliseconds
    }

    func write(to fields: inout FieldWriter) {
        fields.text(url)
        fields.text(method)
        fields.text(headers)
        body.withUnsafeBytes { fields.text($0) }
        fields.text(bodyFile)
        fields.integer(UInt8(sendsDigest ? 1 : 0))
        fields.integer(bytesMax)
        fields.integer(timeoutMilliseconds)
    }

    init(_ fields: inout FieldReader) throws(WireError) {
        url = try fields.text(bytesMax: Call.urlBytesMax)
        method = try fields.text(bytesMax: 32)
        headers = try fields.text(bytesMax: Call.headerBytesMax)
        body = try fields.bytes(max: Call.bodyBytesMax)
        bodyFile = try fields.text(bytesMax: 4096)
        sendsDigest = try fields.integer(UInt8.self) != 0
        bytesMax = try fields.integer()
        timeoutMilliseconds = try fields.integer()
        guard bytesMax >= 0, timeoutMilliseconds >= 0 else { throw .valueOutOfRange }
    }
}
