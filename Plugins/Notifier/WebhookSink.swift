// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import SampleDigests
import FoundationEssentials

/// A server of one's own, which gets the notification's JSON as it is.
struct WebhookSink: Sink, Decodable {
    var url: String
    /// What both sides know: the body is signed with it.
    var secret: String?
    /// Tells two webhooks apart; the URL may hold a secret.
    var label: String?

    var name: String { "webhook \(label ?? host)" }

    private var host: String { URL(string: url)?.host() ?? "" }

    func send(_ notification: Notification, _ context: TaskContext) async throws -> Receipt {
        let body = Data(context.rawParameters.utf8)
        var headers: [(String, String)] = []
        if let key = notification.key ?? notification.id {
            headers.append(("Idempotency-Key", key))
        }
        if let secret {
            headers.append(("X-BGHost-Signature", Self.signature(of: body, secret: secret)))
        }
        let response = try await context.post(body, to: url, headers: headers)
        try response.check()
        return Receipt(status: response.status)
    }

    /// `sha256=` and the HMAC of the body in hex, as GitHub's webhooks have it.
    private static func signature(of body: Data, secret: String) -> String {
        let code = SHA256.authenticationCode(for: Array(body), secret: Array(secret.utf8))
        let digits = Array("0123456789abcdef".utf8)
        let hex = code.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return "sha256=" + String(decoding: hex, as: UTF8.self)
    }
}
