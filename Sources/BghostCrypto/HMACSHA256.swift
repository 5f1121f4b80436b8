// SPDX-License-Identifier: Apache-2.0

internal import CNIOBoringSSL

/// HMAC with SHA-256 (RFC 2104), the signature of messages between two that share a secret.
package enum HMACSHA256 {
    package static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        var count: UInt32 = 0
        // It fails only without memory, and then the code of zeros is refused.
        _ = HMAC(EVP_sha256(), key, key.count, message, message.count, &code, &count)
        return code
    }
}
