// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import Glibc
internal import NIOCore

/// A regular file that is sent as the body of a request.
///
/// Whoever opens it decides whether the plugin may read it; from then on only the descriptor is
/// used, so a path that is replaced meanwhile changes nothing. Read by position: the descriptor's
/// own offset is neither used nor moved, and several readers may share one `UploadFile`.
package final class UploadFile: Sendable {
    /// The length of the body, bytes.
    package let size: Int
    private let descriptor: Int32
    /// What it looked like when it was taken over.
    let stamp: FileStamp

    /// Takes over a descriptor that is open for reading.
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

    /// Fails if the file was written to since it was taken over.
    ///
    /// The kernel stamps files by its clock tick: a write within the same few milliseconds as the
    /// opening that also keeps the size is not seen. A server that checks the digest sees it.
    func checkUnchanged() throws(FetchFailure) {
        guard try FileStamp(of: descriptor) == stamp else { throw .fileChanged }
    }

    /// Begins to read from a position before the end: so many bytes at the most, and at least one.
    func chunk(at offset: Int, bytesMax: Int) -> EventLoopFuture<ByteBuffer> {
        // Disks may block for long, which no thread of the cooperative pool should.
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
            // Cut off since its size was taken, or the disk failed.
            try checkUnchanged()
            throw FetchFailure.badFile(reason: "the disk reports an error")
        }
        return buffer
    }
}

extension FileStamp {
    /// What a regular file looks like now.
    ///
    /// Not the change time: renaming a file, as spoolers do, changes that too.
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
