// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// A request for a transfer, with its limits.
///
/// A transfer reads from or writes to a file: its data need not fit into memory, and it can continue after
/// the run that requested it has ended.
package struct TransferRequest: Hashable, Sendable {
    package var id: RunID
    /// The plugin whose permissions apply.
    package var plugin: String
    /// The session; the ends of its transfers are reported together.
    package var session: String
    package var kind: TransferKind
    package var url: String
    /// The method, in upper or lower case.
    ///
    /// "" means GET for a download, PUT for an upload of the file as it is, and POST for other uploads.
    package var method: String
    package var headers: [TransferHeader]
    /// The body of a download's request; it is small and sent with each attempt.
    package var body: [UInt8]
    /// The absolute path of the file that a download writes or an upload reads.
    package var file: String
    /// The expected SHA-256 of the file, 32 bytes.
    package var digest: [UInt8]?
    /// The maximum length of the file, bytes.
    package var bytesMax: Int64
    /// The maximum time without received or sent bytes, nanoseconds.
    package var idleTimeout: UInt64
    /// The maximum time for all attempts, nanoseconds.
    package var resourceTimeout: UInt64
    /// Data of the plugin that is returned with the end.
    package var continuation: [UInt8]
    /// Whether the daemon may delay it to a favorable time.
    package var isDiscretionary: Bool
    /// A label for people.
    package var label: String
    /// The transfer does not start before this time, Unix nanoseconds; `nil` means at once.
    package var notBefore: Int64?
    /// Whether its session is notified of its end.
    package var notifiesSession: Bool
    /// Whether the host chose the path of a download, and deletes the file after the acknowledgement.
    package var hasOwnPlace: Bool
    /// Unix nanoseconds.
    package var createdAt: Int64

    /// Creates a request with Apple's timeouts: 60 s without bytes, 7 days in total.
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
        notifiesSession = true
        hasOwnPlace = false
    }

    /// The most bytes of `continuation`.
    package static let continuationBytesMax = 64 << 10
    /// The most bytes of `body`.
    package static let bodyBytesMax = 64 << 10

    /// The method as it is sent, in upper case.
    package var effectiveMethod: String {
        guard method.isEmpty else { return method.uppercased() }
        return switch kind {
        case .download: "GET"
        case .upload(.whole): "PUT"
        case .upload: "POST"
        }
    }
}

/// The direction of a transfer.
package enum TransferKind: Hashable, Sendable {
    case download
    case upload(UploadForm)
}

/// The way in which a file is uploaded.
package enum UploadForm: Hashable, Sendable {
    /// As the body of one request; a failed upload starts from the beginning.
    case whole
    /// As one part of `multipart/form-data`; a failed upload starts from the beginning.
    case multipart(field: String, fileName: String, contentType: String)
    /// By tus 1.0.0, which resumes an upload.
    case tus
    /// By `draft-ietf-httpbis-resumable-upload`, version 6, which resumes an upload.
    case ietf
    /// By the protocol that the server supports: the draft, tus, or neither.
    case negotiated
}

/// A header field of an HTTP message.
package struct TransferHeader: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// The head of an HTTP response.
package struct AnswerHead: Equatable, Sendable {
    package var status: Int
    /// Names are in lower case.
    package var headers: [TransferHeader]

    package init(status: Int, headers: [TransferHeader]) {
        self.status = status
        self.headers = headers
    }

    /// The first value of a field.
    ///
    /// - Parameter name: in lower case.
    package subscript(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }

    /// The value of a field that is a whole number.
    func number(_ name: String) -> Int64? {
        self[name].flatMap { Int64(digits: $0) }
    }
}
