// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostCrypto

extension MinisignSignature {
    /// Throws unless the owner of the key signed this message.
    ///
    /// - Parameter signer: the name of the key, for messages.
    package func check(
        _ message: [UInt8],
        by key: MinisignPublicKey,
        signer: String
    ) throws(TrustError) {
        try check(message, by: key, signer: signer) {
            Ed25519.isSignature($0, of: $1, by: key.key)
        }
    }
}
