// SPDX-License-Identifier: Apache-2.0

internal import CNIOBoringSSL

/// Signatures with Ed25519 (RFC 8032).
package enum Ed25519 {
    package static let keyBytes = Int(ED25519_PUBLIC_KEY_LEN)
    package static let seedBytes = 32
    package static let signatureBytes = Int(ED25519_SIGNATURE_LEN)

    /// A key that signs.
    package struct SecretKey: Sendable {
        package let publicKey: [UInt8]
        /// The seed and the public key, as BoringSSL wants them.
        private let both: [UInt8]

        /// The key of a seed; `nil` if the seed has another length.
        package init?(seed: [UInt8]) {
            guard seed.count == seedBytes else { return nil }
            var publicKey = [UInt8](repeating: 0, count: keyBytes)
            var both = [UInt8](repeating: 0, count: Int(ED25519_PRIVATE_KEY_LEN))
            ED25519_keypair_from_seed(&publicKey, &both, seed)
            self.publicKey = publicKey
            self.both = both
        }

        /// `nil` if memory is short.
        package func signature(of message: [UInt8]) -> [UInt8]? {
            var signature = [UInt8](repeating: 0, count: signatureBytes)
            let signed = ED25519_sign(&signature, message, message.count, both)
            return signed == 1 ? signature : nil
        }
    }

    /// Whether the owner of a public key signed a message.
    package static func isSignature(
        _ signature: [UInt8],
        of message: [UInt8],
        by publicKey: [UInt8]
    ) -> Bool {
        guard signature.count == signatureBytes, publicKey.count == keyBytes else { return false }
        return ED25519_verify(message, message.count, signature, publicKey) == 1
    }
}
