// SPDX-License-Identifier: Apache-2.0

/// A checked absolute URL, split into its parts.
///
/// The HTTP client parses the URL again with its own parser. If the two parsers read a host
/// differently, bghost would check the permission for one host and connect to another. So this
/// parser accepts little, and the client gets `url`, which is built anew from plain characters,
/// instead of the text that the plugin wrote.
struct WebAddress: Equatable, Sendable {
    enum Scheme: String, Sendable {
        case http, https

        var port: UInt16 { self == .http ? 80 : 443 }
    }

    let scheme: Scheme
    /// In lower case; an IPv6 address without brackets, in its shortest form.
    let host: String
    /// The host's address, if the URL has an address instead of a name.
    let literal: IPAddress?
    let port: UInt16
    /// The path and query, percent-encoded; begins with a slash.
    let target: String

    /// Reads an absolute URL; its fragment is dropped.
    init(_ text: String) throws(FetchFailure) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.bytesMax else {
            throw .badURL(reason: "it is longer than \(Self.bytesMax) bytes")
        }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[colon...].starts(with: "://".utf8)
        else {
            throw .badURL(reason: "it must be absolute, as in https://example.org/path")
        }
        guard
            let scheme = Scheme(
                rawValue: String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
            )
        else {
            throw .badURL(reason: "only http and https can be fetched")
        }
        let rest = bytes[(colon + 3)...]
        let end = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
        let authority = try Authority(rest[..<end], defaultPort: scheme.port)
        self.init(
            scheme: scheme,
            authority: authority,
            target: try Self.encodedTarget(rest[end...])
        )
    }

    init(scheme: Scheme, authority: Authority, target: String) {
        self.scheme = scheme
        host = authority.host
        literal = authority.literal
        port = authority.port
        self.target = target
    }

    /// The same server, another path and query.
    init(at other: WebAddress, target: String) {
        scheme = other.scheme
        host = other.host
        literal = other.literal
        port = other.port
        self.target = target
    }

    /// The host and port that identify the server, such as `example.org:443`.
    var server: String { Printable.target(host, port) }

    /// The whole URL, in a form that every parser reads alike.
    var url: String { "\(scheme.rawValue)://\(server)\(target)" }

    func hasSameOrigin(as other: WebAddress) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    static let bytesMax = 8192

    /// Percent-encodes the characters of a path and query that may not appear in a request line,
    /// and drops the fragment.
    static func encodedTarget(_ bytes: ArraySlice<UInt8>) throws(FetchFailure) -> String {
        var target: [UInt8] = bytes.first == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]
        var digitsDue = 0
        for byte in bytes.prefix(while: { $0 != UInt8(ascii: "#") }) {
            guard byte > 0x20, byte != 0x7F, byte != UInt8(ascii: "\\") else {
                throw .badURL(
                    reason: "spaces, backslashes and control characters must be percent-encoded"
                )
            }
            let isDigit = ASCII.isHexDigit(byte)
            guard digitsDue == 0 || isDigit else { break }
            digitsDue = byte == UInt8(ascii: "%") ? 2 : max(0, digitsDue - 1)
            if ASCII.mayStandInTarget(byte) {
                target.append(byte)
            } else {
                target += [UInt8(ascii: "%"), ASCII.hexDigit(byte >> 4), ASCII.hexDigit(byte & 15)]
            }
        }
        guard digitsDue == 0 else {
            throw .badURL(reason: "each % must be followed by two hexadecimal digits")
        }
        return String(decoding: target, as: UTF8.self)
    }
}

/// The character classes of URLs and HTTP messages.
enum ASCII {
    static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }

    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// The characters of methods and header names (`tchar` of RFC 9110).
    static func isToken(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    /// The characters of paths and queries (RFC 3986), and the percent sign.
    static func mayStandInTarget(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || "-._~!$&'()*+,;=:@/?%".utf8.contains(byte)
    }

    static func hexDigit(_ value: UInt8) -> UInt8 {
        value + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "A") - 10)
    }
}
