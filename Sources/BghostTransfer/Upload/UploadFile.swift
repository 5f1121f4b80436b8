// SPDX-License-Identifier: Apache-2.0

internal import BghostTransferRules
internal import Glibc
internal import NIOCore

/// A regular file that is sent as the body of a request.
///
/// The caller decides whether the plugin may read the file, and opens it. From then on only the
/// descriptor is used, so replacing the path has no effect. Reads are by position: the descriptor's
/// own offset is neither used nor moved, and several readers may share one `UploadFile`.
package final class UploadFile: Sendable {
    /// The length of the body, bytes.
    let size: Int
    private let descriptor: Int32
    /// The file's size, time and inode when the descriptor was passed in.
    let stamp: FileStamp

    /// Takes ownership of a descriptor that is open for reading.
    ///
    /// The descriptor is closed with this object, and also if this fails.
    package init(owning descriptor: Int32) throws(FetchFailure) {
        do {
            stamp = try FileStamp(of: descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        size = Int(stamp.size)
    }

    deinit {
        close(descriptor)
    }

    /// Throws if the file was written to since the descriptor was passed in.
    ///
    /// The kernel takes file times from its clock tick: a write that keeps the size, within the
    /// same few milliseconds as the opening, is not detected. A server that checks the digest
    /// detects it.
    func checkUnchanged() throws(FetchFailure) {
        guard try FileStamp(of: descriptor) == stamp else { throw .fileChanged }
    }

    /// Starts reading at a position before the end; reads at least one byte and at most `bytesMax`.
    func chunk(at offset: Int, bytesMax: Int) -> EventLoopFuture<ByteBuffer> {
        // A disk may block for long; a thread of the cooperative pool should not.
        DiskThreads.begin { try self.readChunk(at: offset, bytesMax) }
    }

    private func readChunk(at offset: Int, _ bytesMax: Int) throws -> ByteBuffer {
        let wanted = min(bytesMax, size - offset)
        var buffer = ByteBufferAllocator().buffer(capacity: wanted)
        let count = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: wanted) { space in
            while true {
                let count = pread(descriptor, space.baseAddress, wanted, off_t(offset))
                if count >= 0 || errno != EINTR { return max(0, count) }
            }
        }
        guard count > 0 else {
            // The file was truncated since its size was read, or the disk failed.
            try checkUnchanged()
            throw FetchFailure.badFile(reason: "the disk reports an error")
        }
        return buffer
    }
}

extension FileStamp {
    /// The current size, modification time and inode of a regular file.
    ///
    /// It leaves the change time out: renaming a file, as spoolers do, changes that too.
    init(of descriptor: Int32) throws(FetchFailure) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw .badFile(reason: String(cString: strerror(errno)))
        }
        // Pipes and devices have no size, and reading one could block for ever.
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .badFile(reason: "it is not a regular file")
        }
        self.init(
            size: Int64(status.st_size),
            seconds: Int64(status.st_mtim.tv_sec),
            nanoseconds: Int64(status.st_mtim.tv_nsec),
            inode: UInt64(status.st_ino)
        )
    }
}
