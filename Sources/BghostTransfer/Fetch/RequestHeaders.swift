// SPDX-License-Identifier: Apache-2.0

/// The rules for the headers that a plugin may send.
///
/// Headers are text: a line break in a value would start another header, or another request, in the
/// host's name. And only the HTTP client may set the headers that frame a message or choose its
/// receiver: if two parties interpret them differently, requests can be smuggled past a proxy.
enum RequestHeaders {
    /// Limit of names and values together, bytes.
    static let bytesMax = 32 << 10

    private static let reserved: Set<String> = [
        "connection", "content-length", "expect", "host", "keep-alive", "proxy-authenticate",
        "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// Secrets of one origin, which must not be sent to another.
    private static let credentials: Set<String> = ["authorization", "cookie"]

    /// - Parameter isFenced: whether the headers may contain the host's own fence.
    static func check(
        _ headers: [(String, String)],
        sendsDigest: Bool,
        isFenced: Bool = false
    ) throws(FetchFailure) {
        var bytes = 0
        for (name, value) in headers {
            bytes += name.utf8.count + value.utf8.count
            guard bytes <= bytesMax else {
                throw .badHeader(
                    name: name,
                    reason: "the headers are larger than \(bytesMax) bytes together"
                )
            }
            guard !name.isEmpty, name.utf8.allSatisfy(ASCII.isToken) else {
                throw .badHeader(
                    name: name,
                    reason: "a name has letters, digits and '-', and no space"
                )
            }
            guard value.utf8.allSatisfy({ $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }) else {
                throw .badHeader(
                    name: name,
                    reason: "its value has a line break or another control character"
                )
            }
            let lower = name.lowercased()
            guard !reserved.contains(lower), isFenced || !Fence.isNamed(lower) else {
                throw .badHeader(name: name, reason: "the host sets it itself: leave it out")
            }
            guard !sendsDigest || lower != "repr-digest" else {
                throw .badHeader(
                    name: name,
                    reason: "the host was asked to compute it: leave one of them out"
                )
            }
        }
    }

    /// The headers that are still sent after a redirect.
    ///
    /// - Parameters:
    ///   - sameOrigin: whether scheme, host and port are unchanged.
    ///   - keepsBody: whether the body is sent again.
    static func redirected(
        _ headers: [(String, String)],
        sameOrigin: Bool,
        keepsBody: Bool
    ) -> [(String, String)] {
        headers.filter { name, _ in
            let lower = name.lowercased()
            if !sameOrigin, credentials.contains(lower) { return false }
            return keepsBody || !(lower.hasPrefix("content-") || lower == "repr-digest")
        }
    }

    /// The method in the form in which it is sent.
    static func method(_ text: String) throws(FetchFailure) -> String {
        guard !text.isEmpty else { return "GET" }
        let method = text.uppercased()
        guard method.utf8.count <= 32, method.utf8.allSatisfy(ASCII.isToken),
            !["CONNECT", "TRACE"].contains(method)
        else {
            throw .badMethod(text)
        }
        return method
    }
}
