// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostCrypto

/// A secret key as `minisign -G -W` writes it, without a password.
package struct MinisignSecretKey: Sendable {
    package let publicKey: MinisignPublicKey
    private let key: Ed25519.SecretKey

    /// Parses the text of the file.
    package init(_ text: String) throws(TrustError) {
        let file = try MinisignSecretFile(text)
        // The file's own checksum is BLAKE2b; comparing the public key with the one of the seed
        // detects damage equally well.
        guard let key = Ed25519.SecretKey(seed: file.seed), key.publicKey == file.publicKey.key
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
        guard let signature = key.signature(of: message),
            let commentSignature = key.signature(of: signature + Array(comment.utf8))
        else { throw TrustError("it cannot be signed: there is no memory left for it") }
        return MinisignSignature(
            number: publicKey.number,
            signature: signature,
            comment: comment,
            commentSignature: commentSignature
        )
    }
}
