// SPDX-License-Identifier: Apache-2.0

internal import CSodium

/// SHA-256 by the system's libsodium.
///
/// `sodium_init` is not called: it is for functions of which libsodium has more than one version.
package struct SHA256: Sendable {
    private var state = crypto_hash_sha256_state()

    // The functions of libsodium for a hash always return 0.
    package init() { _ = crypto_hash_sha256_init(&state) }

    package mutating func update(bufferPointer: UnsafeRawBufferPointer) {
        let bytes = bufferPointer.assumingMemoryBound(to: UInt8.self)
        // Always 0, as above.
        _ = crypto_hash_sha256_update(&state, bytes.baseAddress, UInt64(bytes.count))
    }

    package mutating func update(data: some Sequence<UInt8>) {
        let wasContiguous: Void? = data.withContiguousStorageIfAvailable { bytes in
            update(bufferPointer: UnsafeRawBufferPointer(bytes))
        }
        if wasContiguous == nil {
            Array(data).withUnsafeBytes { update(bufferPointer: $0) }
        }
    }

    /// The hash of all bytes so far.
    package func finalize() -> [UInt8] {
        var state = state
        var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        // Always 0, as above.
        _ = crypto_hash_sha256_final(&state, &digest)
        return digest
    }

    package static func hash(data: some Sequence<UInt8>) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: data)
        return hash.finalize()
    }

    /// The HMAC of a message (RFC 2104), by a secret of any length.
    package static func authenticationCode(for message: [UInt8], secret: [UInt8]) -> [UInt8] {
        var state = crypto_auth_hmacsha256_state()
        var code = [UInt8](repeating: 0, count: Int(crypto_auth_hmacsha256_BYTES))
        // Always 0, as above.
        _ = crypto_auth_hmacsha256_init(&state, secret, secret.count)
        _ = crypto_auth_hmacsha256_update(&state, message, UInt64(message.count))
        _ = crypto_auth_hmacsha256_final(&state, &code)
        return code
    }
}
