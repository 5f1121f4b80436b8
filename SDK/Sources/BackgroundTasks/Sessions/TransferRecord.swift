// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// The host's record of a transfer.
package struct TransferRecord: Decodable, Sendable {
    package struct Fault: Decodable, Sendable {
        package var code: String
        package var message: String
    }

    /// A header field, encoded as a list of two strings.
    package struct Field: Decodable, Sendable {
        package let name: String
        package let value: String

        package init(from decoder: any Decoder) throws {
            var pair = try decoder.unkeyedContainer()
            name = try pair.decode(String.self)
            value = try pair.decode(String.self)
        }
    }

    package var id: String
    package var session: String
    package var url: String
    package var label: String?
    package var continuation: String?
    package var upload: Bool
    package var state: String
    package var status: Int?
    package var headers: [Field]?
    package var body: String?
    package var file: String?
    package var bytes: Int64?
    package var total: Int64?
    package var fault: Fault?
    /// Whether its end waits for its session.
    package var kept: Bool?

    package var hasEnded: Bool { ["done", "failed", "cancelled"].contains(state) }

    /// The path of the file; `nil` if there is none.
    package var path: String? { file.flatMap { $0.isEmpty ? nil : $0 } }

    private var stored: TransferKey? {
        // Any other text is of the code that started the transfer.
        continuation.flatMap { try? JSONDecoder().decode(TransferKey.self, from: Data($0.utf8)) }
    }

    /// The key of the request in the session; `nil` if other code started the transfer.
    var key: String? { stored?.request }

    /// The method of the request; `nil` if other code started the transfer.
    package var method: String? { key?.split(separator: " ").first.map(String.init) }

    /// Whether a data task started the transfer; `nil` if the record does not say so.
    package var isData: Bool? { stored.map { $0.data ?? false } }

    /// Whether the server responded with a failure status.
    package var isRefusal: Bool {
        state == "failed" && (status ?? 0) > 0 && (fault == nil || fault?.code == "status")
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
    /// Whether a data task started the transfer.
    var data: Bool?
}
