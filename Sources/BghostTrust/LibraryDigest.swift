// SPDX-License-Identifier: Apache-2.0

internal import BghostCrypto
internal import Glibc

/// Hashes the current content of a library's file.
///
/// The hash distinguishes versions of a plugin. A library to be mapped is held (`HeldLibrary`), not
/// looked up by this hash.
package enum LibraryDigest {
    private static let stepBytes = 256 << 10

    /// The SHA-256 of a regular file, 64 lower-case hex digits; `nil` if it cannot be read or
    /// exceeds the size limit of a library.
    ///
    /// Blocks for as long as the disk takes.
    package static func sha256(path: String) -> String? {
        // O_NONBLOCK: otherwise opening a FIFO waits for a writer that may never come.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: stepBytes, alignment: 16)
        defer { buffer.deallocate() }
        var function = SHA256()
        var total = 0
        while true {
            let count = read(file, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { break }
            // Count while reading, since the file may grow.
            total += count
            guard total <= HeldLibrary.bytesMax else { return nil }
            function.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
        return text(function.finalize())
    }

    /// The SHA-256 of several texts, concatenated.
    package static func sha256(of texts: [[UInt8]]) -> String {
        var function = SHA256()
        for text in texts { function.update(data: text) }
        return text(function.finalize())
    }

    private static func text(_ digest: [UInt8]) -> String {
        digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
