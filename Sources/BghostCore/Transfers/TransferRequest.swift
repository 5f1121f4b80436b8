// SPDX-License-Identifier: Apache-2.0

/// What is to be carried over the network, and within which bounds.
///
/// It is a file: a download ends in one and an upload begins with one, so that nothing of it has to
/// be in memory, and a transfer can go on after whoever asked for it is gone.
package struct TransferRequest: Hashable, Sendable {
    package var id: RunID
    /// Whose permissions it has.
    package var plugin: String
    /// Transfers of one session are told of together when all have ended.
    package var session: String
    package var kind: TransferKind
    package var url: String
    /// In any case; "" is GET for a download, PUT for a file that is sent as it is, and else POST.
    package var method: String
    package var headers: [TransferHeader]
    /// What a download sends: small, and repeated with each attempt.
    package var body: [UInt8]
    /// Absolute: where a download ends, and where an upload begins.
    package var file: String
    /// The SHA-256 that the file must have, 32 bytes.
    package var digest: [UInt8]?
    /// The most bytes of a download's file, and the most of an upload's.
    package var bytesMax: Int64
    /// How long nothing may arrive or leave, nanoseconds.
    package var idleTimeout: UInt64
    /// How long it may take with all its attempts, nanoseconds.
    package var resourceTimeout: UInt64
    /// What whoever asked for it wants to know again at its end.
    package var continuation: [UInt8]
    /// Whether it waits for a good moment.
    package var isDiscretionary: Bool
    /// For people.
    package var label: String
    /// Not before this time, Unix nanoseconds; `nil` is "at once".
    package var notBefore: Int64?
    /// Whether its session is told of its end.
    package var tellsSession: Bool
    /// Whether the host chose the place of a download, and removes it once it has been dealt with.
    package var hasOwnPlace: Bool
    /// Unix nanoseconds.
    package var createdAt: Int64

    /// A request with Apple's timeouts: 60 s of silence, 7 days in all.
    package init(
        id: RunID,
        plugin: String,
        session: String,
        kind: TransferKind,
        url: String,
        file: String,
        createdAt: Int64
    ) {
        self.id = id
        self.plugin = plugin
        self.session = session
        self.kind = kind
        self.url = url
        self.file = file
        self.createdAt = createdAt
        method = ""
        headers = []
        body = []
        bytesMax = .max
        idleTimeout = 60_000_000_000
        resourceTimeout = 7 * 86_400_000_000_000
        continuation = []
        isDiscretionary = false
        label = ""
        notBefore = nil
        tellsSession = true
        hasOwnPlace = false
    }

    /// The most bytes of `continuation`.
    package static let continuationBytesMax = 64 << 10
    /// The most bytes of `body`.
    package static let bodyBytesMax = 64 << 10

    /// The method as it is sent.
    package var effectiveMethod: String {
        guard method.isEmpty else { return method.uppercased() }
        return switch kind {
        case .download: "GET"
        case .upload(.whole): "PUT"
        case .upload: "POST"
        }
    }
}

/// Which way a transfer goes.
package enum TransferKind: Hashable, Sendable {
    case download
    case upload(UploadForm)
}

/// How a file is handed to a server.
package enum UploadForm: Hashable, Sendable {
    /// As the body of one request, which begins anew when it fails.
    case whole
    /// As one part of `multipart/form-data`, likewise.
    case multipart(field: String, fileName: String, contentType: String)
    /// By tus 1.0.0, which goes on where it stood.
    case tus
    /// By `draft-ietf-httpbis-resumable-upload`, version 6, likewise.
    case ietf
    /// By what the server says that it speaks: the draft, tus, or neither.
    case negotiated
}

/// A field in the head of an HTTP message.
package struct TransferHeader: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// The head of an answer.
package struct AnswerHead: Equatable, Sendable {
    package var status: Int
    /// Names are in lower case.
    package var headers: [TransferHeader]

    package init(status: Int, headers: [TransferHeader]) {
        self.status = status
        self.headers = headers
    }

    /// The first value of a field, whose name is given in lower case.
    package subscript(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }

    /// A field that has one whole number.
    package func number(_ name: String) -> Int64? {
        self[name].flatMap(Self.number)
    }

    /// Digits only: no sign and no space, which other readers might take otherwise.
    package static func number(_ text: some StringProtocol) -> Int64? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard !text.isEmpty, text.utf8.allSatisfy({ digits.contains($0) }) else { return nil }
        return Int64(text)
    }
}
