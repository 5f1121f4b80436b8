// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// The host's record of a transfer.
struct TransferRecord: Decodable, Sendable {
    struct Fault: Decodable, Sendable {
        var code: String
        var message: String
    }

    /// A header field, encoded as a list of two strings.
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
    /// Whether its end waits for its session.
    var kept: Bool?

    var hasEnded: Bool { ["done", "failed", "cancelled"].contains(state) }

    /// The path of the file; `nil` if there is none.
    var path: String? { file.flatMap { $0.isEmpty ? nil : $0 } }

    /// The key of the request in the session; `nil` if other code started the transfer.
    var key: String? {
        continuation.flatMap { try? JSONDecoder().decode(TransferKey.self, from: Data($0.utf8)) }?
            .request
    }

    /// The HTTP response; `nil` if there was none.
    var response: HTTPURLResponse? {
        guard let status, status > 0, let url = URL(string: url) else { return nil }
        return .answer(url, status, (headers ?? []).map { ($0.name, $0.value) })
    }

    /// Why the transfer failed; `nil` if it succeeded.
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

    /// Whether the server responded with a failure status.
    var isRefusal: Bool {
        state == "failed" && (status ?? 0) > 0 && (fault == nil || fault?.code == "status")
    }

    /// Apple's code for the host's fault.
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

    /// Whether the transfer is for a request.
    ///
    /// If many transfers have ended at once, the host may omit their continuations: then the URLs
    /// are compared.
    func isFor(_ request: TransferRequest, key: String) -> Bool {
        if let own = self.key { return own == key }
        return (continuation ?? "").isEmpty && url == request.url.absoluteString
            && upload == (request.upload != nil)
    }
}

/// The continuation that the SDK stores with a transfer, so that the same request finds the
/// transfer in a later run.
///
/// It does not identify the waiting code, since the host must treat two requests for the same
/// resource as one.
struct TransferKey: Codable {
    var request: String
}
