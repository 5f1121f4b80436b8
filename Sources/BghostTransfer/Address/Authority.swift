// SPDX-License-Identifier: Apache-2.0

/// The host and port of a URL.
struct Authority: Equatable, Sendable {
    let host: String
    let literal: IPAddress?
    let port: UInt16

    /// Parses the part of a URL between `//` and the path.
    init(_ bytes: ArraySlice<UInt8>, defaultPort: UInt16) throws(FetchFailure) {
        guard !bytes.contains(UInt8(ascii: "@")) else {
            throw .badURL(
                reason: "it has a user or password before the host: send an Authorization header"
            )
        }
        let portStart: Int
        if bytes.first == UInt8(ascii: "[") {
            guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")),
                let address = IPAddress(
                    v6: String(decoding: bytes[(bytes.startIndex + 1)..<bracket], as: UTF8.self)
                )
            else {
                throw .badURL(reason: "what stands in its brackets is no IPv6 address")
            }
            host = address.text
            literal = address
            portStart = bracket + 1
        } else {
            portStart = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
            host = try Self.name(bytes[..<portStart])
            literal = IPAddress(v4: host)
        }
        port = try Self.port(bytes[portStart...], default: defaultPort)
    }

    private static func name(_ bytes: ArraySlice<UInt8>) throws(FetchFailure) -> String {
        guard (1...253).contains(bytes.count) else {
            throw .badURL(reason: "its host is empty or longer than 253 characters")
        }
        // Accept no other characters: other parsers decode, normalize or truncate them, and would
        // then connect to a host that was not checked.
        guard bytes.allSatisfy({ ASCII.isAlphanumeric($0) || "-._".utf8.contains($0) }) else {
            throw .badURL(
                reason: "its host may have only letters, digits, '-', '.' and '_': write names in "
                    + "other scripts in their xn-- form"
            )
        }
        let text = String(decoding: bytes, as: UTF8.self).lowercased()
        guard text.first != ".", !text.contains("..") else {
            throw .badURL(reason: "its host has an empty label")
        }
        return text
    }

    private static func port(_ bytes: ArraySlice<UInt8>, default fallback: UInt16)
        throws(FetchFailure) -> UInt16
    {
        guard !bytes.isEmpty else { return fallback }
        let digits = bytes.dropFirst()
        guard bytes.first == UInt8(ascii: ":"), digits.allSatisfy(ASCII.isDigit),
            let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0
        else {
            throw .badURL(reason: "its port must be a number from 1 to 65535")
        }
        return port
    }
}
