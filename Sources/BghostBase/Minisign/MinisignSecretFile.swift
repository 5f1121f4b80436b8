// SPDX-License-Identifier: Apache-2.0

/// The contents of a file that `minisign -G -W` writes: a secret key without a password.
package struct MinisignSecretFile: Equatable, Sendable {
    /// The seed of the secret key, 32 bytes.
    package let seed: [UInt8]
    /// The public key in the file; this type does not check that it belongs to the seed.
    package let publicKey: MinisignPublicKey

    private enum Layout {
        static let bytes = 158
        static let derivation = 2..<4
        static let number = 54..<62
        static let seed = 62..<94
        static let publicKey = 94..<126
    }

    /// Parses the file's text.
    package init(_ text: String) throws(TrustError) {
        let lines = text.split(whereSeparator: \.isNewline)
        guard lines.count == 2, let bytes = Base64.decode(String(lines[1])),
            bytes.count == Layout.bytes, bytes.starts(with: MinisignPublicKey.algorithm)
        else {
            throw TrustError("this is no secret key of minisign; make one with `minisign -G -W`")
        }
        guard bytes[Layout.derivation].allSatisfy({ $0 == 0 }) else {
            throw TrustError(
                "the secret key is locked with a password; sign with `minisign -S -l`, or take the"
                    + " password off with `minisign -C -W`"
            )
        }
        seed = Array(bytes[Layout.seed])
        publicKey = MinisignPublicKey(
            number: Array(bytes[Layout.number]),
            key: Array(bytes[Layout.publicKey])
        )
    }
}
