// SPDX-License-Identifier: Apache-2.0

internal import CNIOBoringSSL

/// BLAKE2b with 256 bits (RFC 7693), the checksum in minisign's secret keys.
package enum BLAKE2b256 {
    package static func hash(data: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(BLAKE2B256_DIGEST_LENGTH))
        BLAKE2B256(data, data.count, &digest)
        return digest
    }
}
