// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// A file in memory that no process can change once it is sealed.
package enum MemoryFile {
    /// Creates an empty memory file whose content may be mapped as code; the caller owns the
    /// descriptor.
    package static func library() throws(SystemError) -> Int32 {
        try checked(bgs_library_file("library"), "create a memory file for code")
    }

    /// Seals a file, so that no process can change it.
    package static func seal(_ fd: Int32) throws(SystemError) {
        try checked(bgs_seal(fd), "seal a memory file")
    }

    /// Copies a file from its beginning.
    ///
    /// - Parameter piece: called with each copied piece, in order.
    package static func copy(
        _ source: Int32,
        to fd: Int32,
        bytesMax: Int,
        piece: (UnsafeRawBufferPointer) -> Void
    ) throws(SystemError) {
        var bytes = 0
        var failure: SystemError?
        try read(source) { buffer in
            guard failure == nil else { return }
            bytes += buffer.count
            failure =
                bytes > bytesMax
                ? SystemError("fill a memory file", code: EFBIG) : write(fd, buffer)
            piece(buffer)
        }
        if let failure { throw failure }
    }

    /// Reads a file from its beginning in pieces.
    package static func read(
        _ fd: Int32,
        piece: (UnsafeRawBufferPointer) -> Void
    ) throws(SystemError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        var offset = 0
        while true {
            let count = pread(fd, buffer.baseAddress, buffer.count, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemError("read a file", code: errno) }
            guard count > 0 else { return }
            piece(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += count
        }
    }

    private static func write(_ fd: Int32, _ bytes: UnsafeRawBufferPointer) -> SystemError? {
        var offset = 0
        while offset < bytes.count {
            let written = Glibc.write(
                fd,
                bytes.baseAddress.map { $0 + offset },
                bytes.count - offset
            )
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return SystemError("fill a memory file", code: errno) }
            offset += written
        }
        return nil
    }
}
