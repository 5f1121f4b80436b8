// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// A transfer as the host tells of it.
struct TransferRecord: Decodable, Sendable {
    struct Fault: Decodable, Sendable {
        var code: String
        var message: String
    }

    /// A field of the header: a list of two.
    struct Field: Decodable, Sendable {
        let name: String
        let value: String

        init(from decoder: any Decoder) throws {
            var pair = try decoder.unkeyedContainer()
            name = try pair.decode(String.self)
            value = try pair.decode(String.self)
        }
    }

    var id: String
    var session: String
    var url: String
    var label: String?
    var continuation: String?
    var upload: Bool
    var state: String
    var status: Int?
    var headers: [Field]?
    var body: String?
    var file: String?
    var bytes: Int64?
    var total: Int64?
    var fault: Fault?

    var hasEnded: Bool { ["done", "failed", "cancelled"].contains(state) }

    /// The file; `nil` if there is none.
    var path: String? { file.flatMap { $0.isEmpty ? nil : $0 } }

    /// Which request of the session it is for; `nil` if something else has begun it.
    var key: String? {
        continuation.flatMap { try? JSONDecoder().decode(TransferKey.self, from: Data($0.utf8)) }?
            .request
    }

    /// The answer of HTTP; `nil` if there was none.
    var response: HTTPURLResponse? {
        guard let status, status > 0, let url = URL(string: url) else { return nil }
        return .answer(url, status, (headers ?? []).map { ($0.name, $0.value) })
    }

    /// Why there is no file; `nil` if there is.
    var error: URLError? {
        let url = URL(string: url)
        switch state {
        case "done": return nil
        case "cancelled": return URLError(.cancelled, url, "the transfer was cancelled")
        default:
            let code = isRefusal ? .badServerResponse : Self.code(of: fault)
            return URLError(code, url, fault?.message ?? "the transfer failed")
        }
    }

    /// Whether the server has answered, and would not.
    var isRefusal: Bool {
        state == "failed" && (status ?? 0) > 0 && (fault == nil || fault?.code == "status")
    }

    /// Apple's code for what the host says.
    private static func code(of fault: Fault?) -> URLError.Code {
        switch fault?.code {
        case "idle", "expired": .timedOut
        case "unresolved": .cannotFindHost
        case "connection": .cannotConnectToHost
        case "untrusted": .secureConnectionFailed
        case "forbidden": .appTransportSecurityRequiresSecureConnection
        case "badRequest", "badRedirect": .badURL
        case "tooLarge": .dataLengthExceedsMaximum
        case "noSpace": .cannotWriteToFile
        case "file", "fileChanged": .noPermissionsToReadFile
        case "status", "contradiction", "digest", "encoding": .badServerResponse
        default: .networkConnectionLost
        }
    }

    /// Whether it is for a request.
    ///
    /// Where many transfers have ended at once, what is kept with them may not be told: then it is the
    /// address that counts.
    func isFor(_ request: TransferRequest, key: String) -> Bool {
        if let own = self.key { return own == key }
        return (continuation ?? "").isEmpty && url == request.url.absoluteString
            && upload == (request.upload != nil)
    }
}

/// What the SDK has a transfer keep, so that the same request finds it again in a later run.
///
/// It says nothing of what awaits it: two requests for the same thing must be one to the host.
struct TransferKey: Codable {
    var request: String
}
