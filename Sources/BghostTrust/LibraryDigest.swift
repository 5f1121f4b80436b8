// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Glibc

/// What a library's file holds at the moment.
///
/// It tells one version of a plugin from another; what is to be mapped is held, and not looked up by
/// this.
package enum LibraryDigest {
    private static let stepBytes = 256 << 10

    /// The SHA-256 of a regular file, 64 lower-case hex digits; `nil` if it cannot be read or is
    /// larger than a library may be.
    ///
    /// Blocks for as long as the disk takes.
    package static func sha256(path: String) -> String? {
        // Not blocking: without it, opening a FIFO waits for a writer that need never come.
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
            // It may grow while it is read.
            total += count
            guard total <= HeldLibrary.bytesMax else { return nil }
            function.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
        return function.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
