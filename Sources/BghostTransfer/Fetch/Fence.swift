// SPDX-License-Identifier: Apache-2.0

internal import BghostCrypto

/// The headers by which a server identifies the attempt that sent a request.
///
/// The epoch grows with each attempt, so a server that stores the greatest epoch can refuse an
/// earlier attempt that arrives late. The idempotency key is the same for all attempts. A plugin
/// can set the key, but not the fence.
package enum Fence {
    package static let header = "X-Bghost-Fence"
    private static let key = "idempotency-key"
    /// Methods that change nothing on the server, however often they are sent.
    private static let safe: Set<String> = ["GET", "HEAD", "OPTIONS"]

    /// Whether a header name, in any case, is that of the fence.
    package static func isNamed(_ name: String) -> Bool {
        name.lowercased() == header.lowercased()
    }

    /// The headers of a fetch, followed by those that the host adds.
    static func adding(to request: FetchRequest, method: String) -> [(String, String)] {
        var headers = request.headers
        if let epoch = request.epoch { headers.append((header, String(epoch))) }
        let hasKey = headers.contains { $0.0.lowercased() == key }
        if let occasion = request.occasion, !hasKey, !safe.contains(method) {
            headers.append(("Idempotency-Key", text(of: request, method, occasion)))
        }
        return headers
    }

    /// The idempotency key, which is the same for each attempt at the same request.
    private static func text(
        of request: FetchRequest,
        _ method: String,
        _ occasion: String
    ) -> String {
        var hash = SHA256()
        // Include the length of each part, so that two different lists never hash the same text.
        func add(_ text: String) {
            hash.update(data: Array("\(text.utf8.count):\(text);".utf8))
        }
        for part in [occasion, method, request.url] { add(part) }
        if case .bytes(let bytes) = request.body { hash.update(data: bytes) }
        return hash.finalize().prefix(16).map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
