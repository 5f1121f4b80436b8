// SPDX-License-Identifier: Apache-2.0

internal import BghostCrypto
internal import BghostTransferRules
internal import Glibc

/// Hashes files.
enum FileHash {
    /// Reads and hashes a whole file; returns `nil` and leaves `errno` set if reading fails.
    static func bytes(of descriptor: Int32, _ algorithm: ContentDigest.Algorithm) -> [UInt8]? {
        switch algorithm {
        case .sha256: bytes(of: descriptor, SHA256())
        case .sha512: bytes(of: descriptor, SHA512())
        }
    }

    private static func bytes(of descriptor: Int32, _ function: some HashFunction) -> [UInt8]? {
        var function = function
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        var offset = 0
        while true {
            let count = pread(descriptor, &buffer, buffer.count, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { return Array(function.finalize()) }
            buffer.withUnsafeBytes {
                function.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
            offset += count
        }
    }
}
