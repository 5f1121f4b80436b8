// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostCrypto

/// A new key, in the form in which `minisign -G -W` writes it: the secret key has no password.
package struct MinisignKeyPair: Sendable {
    /// The text of the file of the secret key.
    package let secretText: String
    package let publicKey: MinisignPublicKey

    /// The text of the file of the public key.
    package var publicText: String {
        "untrusted comment: minisign public key \(publicKey.name)\n\(publicKey.line)\n"
    }

    /// Makes a key of random bytes of the kernel.
    package init() throws(TrustError) {
        try self.init(
            seed: RandomBytes.make(Ed25519.seedBytes),
            number: RandomBytes.make(Self.numberBytes)
        )
    }

    /// Makes the key of a seed of 32 bytes, with a number of 8 bytes.
    init(seed: [UInt8], number: [UInt8]) throws(TrustError) {
        guard let key = Ed25519.SecretKey(seed: seed), number.count == Self.numberBytes else {
            throw TrustError("a key has a seed of 32 bytes and a number of 8")
        }
        publicKey = MinisignPublicKey(number: number, key: key.publicKey)
        let algorithm = Array("Ed".utf8)
        let secret = seed + key.publicKey
        // Zeros say that no password is needed: no way to derive a key, no salt, no limits.
        let (way, settings) = ([UInt8](repeating: 0, count: 2), [UInt8](repeating: 0, count: 48))
        let bytes =
            algorithm + way + Array("B2".utf8) + settings + number + secret
            + BLAKE2b256.hash(data: algorithm + number + secret)
        secretText = "untrusted comment: minisign secret key\n\(Base64.encode(bytes))\n"
    }

    private static let numberBytes = 8
}
