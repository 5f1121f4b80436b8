// SPDX-License-Identifier: Apache-2.0

/// The public key of a trusted signer, in the format of `minisign`.
package struct MinisignPublicKey: Equatable, Sendable {
    /// The number that identifies the key; every signature contains it.
    package let number: [UInt8]
    /// The Ed25519 key, 32 bytes.
    package let key: [UInt8]

    static let algorithm = Array("Ed".utf8)
    static let numberBytes = 8
    private static let bytes = 2 + numberBytes + 32

    package init(number: [UInt8], key: [UInt8]) {
        self.number = number
        self.key = key
    }

    /// Parses the line that `minisign -p` prints, `RW…`, or a public key file with its comment
    /// line.
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

    /// The number in the form that `minisign` shows.
    package var name: String { Self.name(of: number) }

    static func name(of number: [UInt8]) -> String {
        let value = number.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return String(value, radix: 16, uppercase: true)
    }
}
