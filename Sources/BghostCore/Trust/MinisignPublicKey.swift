// SPDX-License-Identifier: Apache-2.0

/// Whose signatures are believed: a public key as `minisign` writes it.
package struct MinisignPublicKey: Equatable, Sendable {
    /// Tells keys apart; it is written in every signature.
    package let number: [UInt8]
    /// Ed25519, 32 bytes.
    package let key: [UInt8]

    static let algorithm = Array("Ed".utf8)
    static let numberBytes = 8
    private static let bytes = 2 + numberBytes + 32

    package init(number: [UInt8], key: [UInt8]) {
        self.number = number
        self.key = key
    }

    /// Reads the line that `minisign -p` shows, `RW…`, or the file with its comment before.
    package init(_ text: String) throws(TrustError) {
        let line = text.split(whereSeparator: \.isNewline).last.map(String.init) ?? ""
        guard let bytes = Base64.decode(line), bytes.count == Self.bytes,
            bytes.starts(with: Self.algorithm)
        else {
            throw TrustError(
                "`\(PrintableText.escaped(String(line.prefix(80))))` is no public key of minisign,"
                    + " which begins with RW and has 56 letters"
            )
        }
        number = Array(bytes[2..<10])
        key = Array(bytes[10...])
    }

    /// The line in base64.
    package var line: String { Base64.encode(Self.algorithm + number + key) }

    /// As `minisign` shows it.
    package var name: String { Self.name(of: number) }

    static func name(of number: [UInt8]) -> String {
        let value = number.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return String(value, radix: 16, uppercase: true)
    }
}
