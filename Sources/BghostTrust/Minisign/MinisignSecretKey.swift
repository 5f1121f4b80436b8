// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import Crypto

/// What signs: a secret key as `minisign -G -W` writes it, without a password.
package struct MinisignSecretKey: Sendable {
    package let publicKey: MinisignPublicKey
    private let key: Curve25519.Signing.PrivateKey

    private enum Layout {
        static let bytes = 158
        static let derivation = 2..<4
        static let number = 54..<62
        static let seed = 62..<94
        static let publicKey = 94..<126
    }

    /// Reads the file's text.
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
        // The file's own sum is BLAKE2b; that seed and public key belong together says as much.
        let seed = Array(bytes[Layout.seed])
        guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed),
            Array(key.publicKey.rawRepresentation) == Array(bytes[Layout.publicKey])
        else {
            throw TrustError("the secret key is damaged: its two halves do not belong together")
        }
        self.key = key
        publicKey = MinisignPublicKey(
            number: Array(bytes[Layout.number]),
            key: Array(bytes[Layout.publicKey])
        )
    }

    /// Signs a message, and a comment with it.
    package func sign(
        _ message: [UInt8],
        comment: String
    ) throws(TrustError) -> MinisignSignature {
        do {
            let signature = Array(try key.signature(for: message))
            return MinisignSignature(
                number: publicKey.number,
                signature: signature,
                comment: comment,
                commentSignature: Array(try key.signature(for: signature + Array(comment.utf8)))
            )
        } catch {
            throw TrustError("it cannot be signed: \(error)")
        }
    }
}
