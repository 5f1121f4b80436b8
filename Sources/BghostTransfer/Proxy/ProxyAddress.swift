// SPDX-License-Identifier: Apache-2.0

/// A proxy, and who we are to it.
struct ProxyAddress: Hashable, Sendable {
    let host: String
    let port: UInt16
    /// `user:password`; never part of a message.
    let credentials: String?

    /// What names it in messages.
    var server: String { Printable.target(host, port) }

    /// Reads `http://[user:password@]host[:port]`; the scheme may be left out.
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
    /// Where a short text begins and ends in this one; `nil` if it is not there.
    fileprivate func range(of text: String) -> Range<Index>? {
        indices.lazy.compactMap { start in
            guard self[start...].hasPrefix(text) else { return nil }
            return start..<self.index(start, offsetBy: text.count)
        }.first
    }
}
