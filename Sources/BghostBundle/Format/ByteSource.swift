// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import Glibc

/// Bytes that can be read at any place, and do not change.
package protocol ByteSource: Sendable {
    /// How many there are.
    var count: Int { get }
    /// Reads a range, which lies inside.
    func read(at offset: Int, count: Int) throws(BundleError) -> [UInt8]
}

extension [UInt8]: ByteSource {
    package func read(at offset: Int, count: Int) throws(BundleError) -> [UInt8] {
        Array(self[offset..<offset + count])
    }
}

/// A file that was read once, into memory that cannot be changed: the checked bytes are those that are
/// shown and installed, whatever happens to the file meanwhile.
package final class HeldFile: ByteSource {
    /// Open for reading; closed with this object.
    package let descriptor: Int32
    package let count: Int

    /// The size limit of a bundle, bytes.
    package static let bytesMax = 600 << 20

    /// Reads a regular file; blocks for as long as the disk takes.
    package convenience init(path: String) throws(BundleError) {
        // O_NONBLOCK: otherwise opening a FIFO waits for a writer that may never come.
        let source = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard source >= 0 else { throw Self.failure(path, errno) }
        defer { close(source) }
        var status = stat()
        guard fstat(source, &status) == 0 else { throw Self.failure(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw BundleError(
                "\(path.quoted) is not a regular file",
                fix: "name the file of a bundle, NAME-VERSION.bghost"
            )
        }
        try self.init(copying: source, path)
    }

    /// Holds a part of a held file, such as its library.
    package convenience init(
        part offset: Int,
        count: Int,
        of other: some ByteSource
    ) throws(BundleError) {
        try self.init("a member") { (fd: Int32) throws(BundleError) in
            var place = offset
            while place < offset + count {
                let piece = try other.read(at: place, count: min(256 << 10, offset + count - place))
                guard Self.write(piece, to: fd) else { throw Self.failure("a member", errno) }
                place += piece.count
            }
            return count
        }
    }

    private convenience init(copying source: Int32, _ path: String) throws(BundleError) {
        try self.init(path) { (fd: Int32) throws(BundleError) in
            var count = 0
            do throws(SystemError) {
                try MemoryFile.copy(source, to: fd, bytesMax: Self.bytesMax) { count += $0.count }
            } catch {
                throw Self.failure(path, error.code)
            }
            return count
        }
    }

    private init(
        _ path: String,
        filledBy fill: (Int32) throws(BundleError) -> Int
    ) throws(BundleError) {
        do throws(SystemError) {
            descriptor = try MemoryFile.library()
        } catch {
            throw Self.failure(path, error.code)
        }
        do throws(BundleError) {
            count = try fill(descriptor)
            try Self.seal(descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    package func read(at offset: Int, count: Int) throws(BundleError) -> [UInt8] {
        var filled = 0
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            while filled < count {
                let read = pread(
                    descriptor,
                    buffer.baseAddress.map { $0 + filled },
                    count - filled,
                    off_t(offset + filled)
                )
                if read < 0, errno == EINTR { continue }
                guard read > 0 else {
                    code = read < 0 ? errno : EIO
                    break
                }
                filled += read
            }
            initialized = filled
        }
        guard filled == count else { throw Self.failure("the bundle", code) }
        return bytes
    }

    private static func seal(_ descriptor: Int32, _ path: String) throws(BundleError) {
        do throws(SystemError) {
            try MemoryFile.seal(descriptor)
        } catch {
            throw failure(path, error.code)
        }
    }

    private static func write(_ bytes: [UInt8], to fd: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(fd, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func failure(_ path: String, _ code: Int32) -> BundleError {
        let fix =
            code == EFBIG
            ? "a bundle has at most \(bytesMax >> 20) MiB; strip its libraries"
            : "make it readable, or name another file"
        return BundleError(
            "\(path.quoted) cannot be read: \(String(cString: strerror(code)))",
            fix: fix
        )
    }
}
