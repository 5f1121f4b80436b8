// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// A file in memory that nobody can change once it is sealed.
package enum MemoryFile {
    /// A sealed one with this content; the caller owns the descriptor.
    package static func sealed(name: String, _ bytes: [UInt8]) throws(SystemError) -> Int32 {
        let fd = try checked(bgs_memory_file(name), "create a memory file")
        var offset = 0
        while offset < bytes.count {
            let written = bytes.withUnsafeBytes {
                write(fd, $0.baseAddress.map { $0 + offset }, bytes.count - offset)
            }
            guard written > 0 else {
                let code = errno
                close(fd)
                throw SystemError("fill a memory file", code: code)
            }
            offset += written
        }
        let sealed = bgs_seal(fd)
        guard sealed == 0 else {
            close(fd)
            throw SystemError("seal a memory file", code: 0 - sealed)
        }
        return fd
    }

    /// The whole content of a descriptor, which is closed.
    package static func consume(_ fd: Int32, count: UInt64) -> [UInt8]? {
        defer { close(fd) }
        guard count <= 256 << 20 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(count))
        var offset = 0
        while offset < bytes.count {
            let got = bytes.withUnsafeMutableBytes {
                pread(fd, $0.baseAddress.map { $0 + offset }, $0.count - offset, off_t(offset))
            }
            guard got > 0 else { return nil }
            offset += got
        }
        return bytes
    }
}
