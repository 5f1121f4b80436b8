// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file that is read piece by piece, with `pread` and never by mapping it: whoever may write it
/// can cut it off while it is read, and a mapping would then end the daemon with SIGBUS.
struct BoundedFile {
    let path: String
    let descriptor: Int32
    let identity: FileIdentity

    /// Takes no ownership of the descriptor.
    init(descriptor: Int32, path: String) throws(ImageError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw ImageError(path, .cannotRead(errno: errno))
        }
        try Self.requireRegular(status.st_mode, path)
        let size = UInt64(clamping: status.st_size)
        guard size <= PluginImage.sizeBytesMax else {
            throw ImageError(path, .tooLarge(bytes: size))
        }
        self.path = path
        self.descriptor = descriptor
        identity = FileIdentity(
            device: UInt64(status.st_dev),
            inode: UInt64(status.st_ino),
            sizeBytes: size,
            modifiedSeconds: Int64(status.st_mtim.tv_sec),
            modifiedNanoseconds: Int64(status.st_mtim.tv_nsec)
        )
    }

    /// Opens a file for reading; the caller closes the descriptor.
    static func open(_ path: String) throws(ImageError) -> Int32 {
        // Looked at before it is opened, because opening a device can already do something. The
        // answer may be out of date by then; `init` asks the descriptor itself.
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw ImageError(path, .cannotOpen(errno: errno))
        }
        try requireRegular(status.st_mode, path)
        // Not blocking: without it, opening a FIFO waits for a writer that need never come.
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw ImageError(path, .cannotOpen(errno: errno)) }
        return descriptor
    }

    private static func requireRegular(_ mode: mode_t, _ path: String) throws(ImageError) {
        let kind =
            switch mode & S_IFMT {
            case S_IFREG: ""
            case S_IFDIR: "a directory"
            case S_IFIFO: "a FIFO"
            case S_IFSOCK: "a socket"
            case S_IFCHR, S_IFBLK: "a device"
            default: "something else"
            }
        guard kind.isEmpty else { throw ImageError(path, .notRegular(kind: kind)) }
    }

    /// All bytes of a range that must lie within the file.
    ///
    /// - Parameter part: names the range in the error.
    func read(_ part: String, at offset: UInt64, count: UInt64) throws(ImageError) -> FileBytes {
        let (end, overflow) = offset.addingReportingOverflow(count)
        guard !overflow, end <= identity.sizeBytes else {
            throw cutOff(part, end: overflow ? .max : end)
        }
        // Both fit: the size of the file is far below what an Int holds.
        var bytes = [UInt8](repeating: 0, count: Int(count))
        var filled = 0
        while filled < bytes.count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                return pread(
                    descriptor,
                    rest.baseAddress,
                    rest.count,
                    off_t(offset) + off_t(filled)
                )
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw ImageError(path, .cannotRead(errno: errno)) }
            guard got > 0 else { throw cutOff(part, end: end) }
            filled += got
        }
        return FileBytes(bytes: bytes)
    }

    private func cutOff(_ part: String, end: UInt64) -> ImageError {
        ImageError(path, .cutOff(part: part, end: end, size: identity.sizeBytes))
    }
}

/// Which file it was, and in which state: another value means that the file was replaced or changed.
package struct FileIdentity: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64
    package var sizeBytes: UInt64
    package var modifiedSeconds: Int64
    package var modifiedNanoseconds: Int64
}

extension FileIdentity {
    init(_ status: stat) {
        self.init(
            device: UInt64(status.st_dev),
            inode: UInt64(status.st_ino),
            sizeBytes: UInt64(status.st_size),
            modifiedSeconds: Int64(status.st_mtim.tv_sec),
            modifiedNanoseconds: Int64(status.st_mtim.tv_nsec)
        )
    }

    /// Which file a path means at the moment; `nil` if there is none.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}

/// Bytes of a file, from which little-endian numbers are read at any offset, aligned or not.
struct FileBytes {
    var bytes: [UInt8]

    var count: Int { bytes.count }

    /// `nil` if the number does not lie within the bytes.
    func integer<T: FixedWidthInteger>(at offset: Int, as type: T.Type = T.self) -> T? {
        guard offset >= 0, offset <= bytes.count - MemoryLayout<T>.size else { return nil }
        return bytes.withUnsafeBytes {
            T(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: T.self))
        }
    }

    /// The bytes before the next NUL; `nil` if there is none within `limit` bytes.
    func string(at offset: UInt64, limit: Int) -> ArraySlice<UInt8>? {
        guard let start = Int(exactly: offset), start < bytes.count else { return nil }
        let window = bytes[start..<min(bytes.count, start + limit + 1)]
        guard let end = window.firstIndex(of: 0) else { return nil }
        return bytes[start..<end]
    }
}
