// SPDX-License-Identifier: Apache-2.0

internal import CNIOBoringSSL

/// SHA-512 (FIPS 180-4).
package struct SHA512: HashFunction {
    private var context = SHA512_CTX()

    // The functions of BoringSSL for a hash always return 1.
    package init() { _ = SHA512_Init(&context) }

    package mutating func update(bufferPointer: UnsafeRawBufferPointer) {
        // Always 1, as above.
        _ = SHA512_Update(&context, bufferPointer.baseAddress, bufferPointer.count)
    }

    package func finalize() -> [UInt8] {
        var context = context
        return [UInt8](unsafeUninitializedCapacity: Int(SHA512_DIGEST_LENGTH)) { digest, count in
            // Always 1, as above.
            _ = SHA512_Final(digest.baseAddress, &context)
            count = digest.count
        }
    }
}
