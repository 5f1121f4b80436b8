// SPDX-License-Identifier: Apache-2.0

// BoringSSL as NIOSSL brings it: docs/adr/0816-one-boringssl.md.
internal import CNIOBoringSSL

/// SHA-256 (FIPS 180-4).
package struct SHA256: HashFunction {
    private var context = SHA256_CTX()

    // The functions of BoringSSL for a hash always return 1.
    package init() { _ = SHA256_Init(&context) }

    package mutating func update(bufferPointer: UnsafeRawBufferPointer) {
        // Always 1, as above.
        _ = SHA256_Update(&context, bufferPointer.baseAddress, bufferPointer.count)
    }

    package func finalize() -> [UInt8] {
        var context = context
        return [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { digest, count in
            // Always 1, as above.
            _ = SHA256_Final(digest.baseAddress, &context)
            count = digest.count
        }
    }
}
