// SPDX-License-Identifier: Apache-2.0

/// A proxy, with the credentials for it.
struct ProxyAddress: Hashable, Sendable {
    let host: String
    let port: UInt16
    /// `user:password`; it must not appear in messages.
    let credentials: String?

    /// The host and port that name the proxy in messages.
    var server: String { Printable.target(host, port) }

    /// Parses `http://[user:password@]host[:port]`; the scheme is optional.
    init(_ text: String) throws(Unusable) {
        var rest = text[...]
        if let mark = text.range(of: "://") {
            guard text[..<mark.lowerBound].lowercased() == "http" else {
                throw Unusable(reason: "only proxies that are spoken to by http:// can be used")
            }
            rest = text[mark.upperBound...]
        }
        rest = rest.prefix { $0 != "/" }
        var credentials: String?
        if let at = rest.lastIndex(of: "@") {
            credentials = try Self.decoded(rest[..<at])
            rest = rest[rest.index(after: at)...]
        }
        do throws(FetchFailure) {
            let address = try WebAddress("http://\(rest)/")
            host = address.host
            port = address.port
        } catch {
            throw Unusable(reason: "it has no usable host and port")
        }
        self.credentials = credentials
    }

    /// Why a proxy cannot be used.
    struct Unusable: Error {
        let reason: String
    }

    private static func decoded(_ text: Substring) throws(Unusable) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy(ASCII.isHexDigit),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { throw Unusable(reason: "a % in its user or password is not followed by digits") }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension String {
    /// The range of the first occurrence of a short text; `nil` if there is none.
    fileprivate func range(of text: String) -> Range<Index>? {
        indices.lazy.compactMap { start in
            guard self[start...].hasPrefix(text) else { return nil }
            return start..<self.index(start, offsetBy: text.count)
        }.first
    }
}
