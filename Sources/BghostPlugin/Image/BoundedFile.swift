// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file that is read with `pread` and never mapped: its owner can truncate it during the read,
/// and a mapping would then end the daemon with SIGBUS.
struct BoundedFile {
    let path: String
    let descriptor: Int32
    let identity: FileIdentity
    private let budget: ImageBudget
    /// Bytes per read; the time budget is checked between two reads.
    private static let stepBytes = 1 << 20

    /// Uses a descriptor that the caller continues to own.
    init(
        descriptor: Int32,
        path: String,
        budget: ImageBudget = ImageBudget()
    ) throws(ImageError) {
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
        self.budget = budget
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
        // Check the type before opening, since opening a device can have effects. The file may be
        // replaced meanwhile, so `init` checks the descriptor again.
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw ImageError(path, .cannotOpen(errno: errno))
        }
        try requireRegular(status.st_mode, path)
        // O_NONBLOCK: otherwise opening a FIFO waits for a writer that may never come.
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

    /// Reads a range that must lie within the file.
    ///
    /// - Parameter part: the name of the range in the error.
    func read(_ part: String, at offset: UInt64, count: UInt64) throws(ImageError) -> FileBytes {
        let (end, overflow) = offset.addingReportingOverflow(count)
        guard !overflow, end <= identity.sizeBytes else {
            throw cutOff(part, end: overflow ? .max : end)
        }
        // Both values fit into an Int: the size limit of a file is far lower.
        guard budget.spend(count) else { throw ImageError(path, .overBudget) }
        var bytes = [UInt8](repeating: 0, count: Int(count))
        var filled = 0
        while filled < bytes.count {
            guard budget.spend(0) else { throw ImageError(path, .overBudget) }
            let step = min(bytes.count, filled + Self.stepBytes)
            let got = bytes.withUnsafeMutableBytes { buffer in
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<step])
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

/// The identity and state of a file: if the value differs, the file was replaced or changed.
package struct FileIdentity: Hashable, Sendable {
    var device: UInt64
    var inode: UInt64
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

    /// The file that a path refers to now; `nil` if there is none.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}

/// Bytes of a file; little-endian numbers can be read at any offset, aligned or not.
struct FileBytes {
    var bytes: [UInt8]

    var count: Int { bytes.count }

    /// Reads a number; `nil` if it does not lie within the bytes.
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
