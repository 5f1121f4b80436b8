// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import Crypto

/// A secret key as `minisign -G -W` writes it, without a password.
package struct MinisignSecretKey: Sendable {
    package let publicKey: MinisignPublicKey
    private let key: Curve25519.Signing.PrivateKey

    /// Parses the text of the file.
    package init(_ text: String) throws(TrustError) {
        let file = try MinisignSecretFile(text)
        // The file's own checksum is BLAKE2b; comparing the public key with the one of the seed
        // detects damage equally well.
        guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: file.seed),
            Array(key.publicKey.rawRepresentation) == file.publicKey.key
        else {
            throw TrustError("the secret key is damaged: its two halves do not belong together")
        }
        self.key = key
        publicKey = file.publicKey
    }

    /// Signs a message and a comment.
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
