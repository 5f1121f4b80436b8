// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel

/// Why a text is not a host and port.
package struct NetworkGrantFault: Error, Equatable, Sendable {
    /// A clause such as "it has no port".
    package var reason: String
    package var suggestion: String?

    init(_ reason: String, suggestion: String? = nil) {
        self.reason = reason
        self.suggestion = suggestion
    }
}

extension NetworkGrant {
    /// Parses `host:port`, `*.host:port`, `a.b.c.d:port` or `[v6]:port`.
    ///
    /// It normalizes the host for comparison: lower case, and IPv6 in the form of RFC 5952.
    package init(parsing text: String) throws(NetworkGrantFault) {
        if let scheme = text.firstRange(ofASCII: "://") {
            let rest = text[scheme.upperBound...].prefix { $0 != "/" }
            let port = text.hasPrefix("http://") ? ":80" : ":443"
            let hasPort = rest.hasSuffix("]") ? false : rest.contains(":")
            throw NetworkGrantFault(
                "it is a URL",
                suggestion: hasPort ? String(rest) : "\(rest)\(port)"
            )
        }
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")), !text.hasSuffix("]") else {
            throw NetworkGrantFault("it has no port", suggestion: text + ":443")
        }
        let port = text[text.utf8.index(after: colon)...]
        guard let number = UInt16(port), number > 0, port.utf8.first != UInt8(ascii: "+") else {
            throw NetworkGrantFault("the port is not a number from 1 to 65535")
        }
        let host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            guard let address = IPv6Address(String(host.dropFirst().dropLast())) else {
                throw NetworkGrantFault("what stands in brackets is not an IPv6 address")
            }
            self.init(host: address.description, port: number)
            return
        }
        if host.utf8.contains(UInt8(ascii: ":")) {
            let isAddress = IPv6Address(host) != nil
            throw NetworkGrantFault(
                "an IPv6 address stands in brackets",
                suggestion: isAddress ? "[\(host)]:\(port)" : nil
            )
        }
        if let fault = Self.nameFault(host) { throw fault }
        self.init(host: host.lowercased(), port: number)
    }

    private static func nameFault(_ host: String) -> NetworkGrantFault? {
        let isWildcard = host.hasPrefix("*.")
        let name = isWildcard ? host.dropFirst(2) : host[...]
        guard !name.isEmpty else { return NetworkGrantFault("it has no host") }
        guard name.utf8.allSatisfy({ $0 < 0x80 }) else {
            return NetworkGrantFault("the host is not ASCII; write it in Punycode (xn--…)")
        }
        guard !name.utf8.contains(UInt8(ascii: "*")) else {
            return NetworkGrantFault("`*` may only be the first label, before a dot")
        }
        guard name.utf8.count <= 253 else {
            return NetworkGrantFault("the host is longer than 253 characters")
        }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.allSatisfy(isLabel) else {
            return NetworkGrantFault("\(String(name).quoted) is not the name of a host")
        }
        // A last label that is a number makes it an IPv4 address. Resolvers accept further forms of
        // it (octal, hexadecimal, fewer parts), which cannot be compared as text.
        guard let last = labels.last?.lowercased(),
            last.utf8.allSatisfy(isDigit) || last.hasPrefix("0x")
        else { return nil }
        let isAddress = !isWildcard && labels.count == 4 && labels.allSatisfy(isOctet)
        return isAddress ? nil : NetworkGrantFault("\(host.quoted) is not an IPv4 address")
    }

    private static func isLabel(_ label: Substring) -> Bool {
        let dash = UInt8(ascii: "-")
        guard (1...63).contains(label.utf8.count), label.utf8.first != dash,
            label.utf8.last != dash
        else { return false }
        return label.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), dash, UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isOctet(_ label: Substring) -> Bool {
        label.utf8.allSatisfy(isDigit) && UInt8(label) != nil
            && (label == "0" || label.first != "0")
    }
}
