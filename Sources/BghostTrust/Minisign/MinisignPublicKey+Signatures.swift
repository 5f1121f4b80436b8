// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import Crypto

extension MinisignPublicKey {
    fileprivate func isSignature(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key) else {
            return false
        }
        return key.isValidSignature(signature, for: message)
    }
}

extension MinisignSignature {
    /// Throws unless the owner of the key signed this message.
    ///
    /// - Parameter signer: the name of the key, for messages.
    package func check(
        _ message: [UInt8],
        by key: MinisignPublicKey,
        signer: String
    ) throws(TrustError) {
        try check(message, by: key, signer: signer) { key.isSignature($0, of: $1) }
    }
}
