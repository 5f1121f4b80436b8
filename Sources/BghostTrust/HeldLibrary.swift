// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostLinux
internal import BghostCrypto
internal import Glibc

/// A library whose content can no longer change: the checked bytes are the mapped bytes.
///
/// The file is read once, into a sealed memory file. Hashing a path and mapping it later would be a
/// race; comparing the inode is not enough either, since its owner may write to it.
package final class HeldLibrary: Sendable {
    /// Open for reading; closed with this object.
    package let descriptor: Int32
    /// The hash of its content, 64 lower-case hex digits.
    package let sha256: String

    /// The size limit, bytes.
    package static let bytesMax = 256 << 20

    /// Reads a regular file into memory.
    package init(path: String) throws(TrustError) {
        // O_NONBLOCK: otherwise opening a FIFO waits for a writer that may never come.
        let source = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard source >= 0 else { throw Self.failure(path, errno) }
        defer { close(source) }
        var status = stat()
        guard fstat(source, &status) == 0 else { throw Self.failure(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Self.failure(path, EINVAL) }
        guard status.st_size <= Self.bytesMax else { throw Self.failure(path, EFBIG) }
        do throws(SystemError) {
            let file = Descriptor(owning: try MemoryFile.library())
            var function = SHA256()
            try MemoryFile.copy(source, to: file.raw, bytesMax: Self.bytesMax) {
                function.update(bufferPointer: $0)
            }
            try MemoryFile.seal(file.raw)
            sha256 = function.finalize().hexText
            descriptor = file.release()
        } catch {
            throw TrustError("\(path) cannot be held: \(error.description)")
        }
    }

    deinit { close(descriptor) }

    /// Reads the whole content.
    package func bytes() throws(TrustError) -> [UInt8] {
        var bytes: [UInt8] = []
        do throws(SystemError) {
            try MemoryFile.read(descriptor) { bytes += $0 }
        } catch {
            throw TrustError("it cannot be read again: \(error.description)")
        }
        return bytes
    }

    private static func failure(_ path: String, _ code: Int32) -> TrustError {
        TrustError("\(path) cannot be read: \(SystemError("read", path, code: code).reason)")
    }
}
