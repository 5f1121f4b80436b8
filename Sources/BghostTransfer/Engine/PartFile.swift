// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import BghostTransferRules
internal import Glibc
internal import NIOCore
internal import NIOPosix

/// The unfinished file of a download, in the folder of the final file.
///
/// A reader of the final path sees no file or the whole file. All calls block; make them on threads
/// that may block: see `onDisk`.
final class PartFile: Sendable {
    static let prefix = ".bghost-"

    private let folder: Int32
    private let descriptor: Int32
    private let partName: String
    private let name: String
    private let path: String
    /// Identifies the file (its inode), whatever its name.
    let stamp: FileStamp

    /// Opens the file of an earlier attempt, or creates it.
    init(of request: TransferRequest, within access: TransferAccess) throws(TransferFault) {
        let (folder, name) = try access.openFolder(of: request.file)
        let partName = Self.prefix + request.id.description + ".part"
        // Do not follow a link: the bytes must be written in this folder.
        let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        var descriptor = openat(folder, partName, flags)
        if descriptor < 0, errno == ENOENT {
            do {
                try access.takeFile(for: request.file)
            } catch {
                close(folder)
                throw error
            }
            descriptor = openat(folder, partName, flags | O_CREAT, 0o600)
        }
        guard descriptor >= 0 else {
            let code = errno
            close(folder)
            throw TransferAccess.fault(request.file, SystemError("open", code: code))
        }
        self.folder = folder
        self.descriptor = descriptor
        self.partName = partName
        self.name = name
        path = request.file
        var status = stat()
        let isThere = fstat(descriptor, &status) == 0
        stamp = FileStamp(size: 0, seconds: 0, nanoseconds: 0, inode: UInt64(status.st_ino))
        // Through a second hard link the bytes would appear elsewhere.
        guard isThere, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
            throw TransferFault(
                .file,
                "`\(Printable.text(path, limit: 300))`: what lies in the place of its unfinished"
                    + " file is not a plain file: remove \(partName)"
            )
        }
    }

    deinit {
        close(descriptor)
        close(folder)
    }

    /// Removes the unfinished file of a download, if its folder is still permitted.
    static func remove(of request: TransferRequest, within access: TransferAccess) {
        // Where bghost may no longer write, it must not remove anything either.
        guard let (folder, _) = try? access.openFolder(of: request.file) else { return }
        unlinkat(folder, prefix + request.id.description + ".part", 0)
        close(folder)
    }

    /// Removes a downloaded file, if its folder is still permitted.
    ///
    /// - Parameter inode: removes no file with another inode; `nil` removes any.
    static func removePlaced(
        _ request: TransferRequest,
        within access: TransferAccess,
        inode: UInt64? = nil
    ) {
        // As above: a folder that is no longer permitted is left alone.
        guard let (folder, name) = try? access.openFolder(of: request.file) else { return }
        defer { close(folder) }
        var status = stat()
        if let inode {
            guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
                UInt64(status.st_ino) == inode
            else { return }
        }
        unlinkat(folder, name, 0)
    }

    /// The current length, bytes.
    func length() throws(TransferFault) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw fault("stat") }
        return Int64(status.st_size)
    }

    /// Truncates the file to a length in bytes.
    func truncate(to length: Int64) throws(TransferFault) {
        guard ftruncate(descriptor, off_t(length)) == 0 else { throw fault("truncate") }
    }

    /// Writes buffers consecutively from an offset.
    func write(_ buffers: [ByteBuffer], at offset: Int64) throws(TransferFault) {
        var offset = offset
        for buffer in buffers {
            let code = buffer.withUnsafeReadableBytes { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let part = UnsafeRawBufferPointer(rebasing: rest)
                    let count = pwrite(descriptor, part.baseAddress, part.count, off_t(offset))
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { return count < 0 ? errno : ENOSPC }
                    rest = rest.dropFirst(count)
                    offset += Int64(count)
                }
                return 0
            }
            guard code == 0 else { throw fault("write", code) }
        }
    }

    /// Waits until all written bytes are on the disk.
    func sync() throws(TransferFault) {
        guard fdatasync(descriptor) == 0 else { throw fault("sync") }
    }

    /// Reads the whole file back and hashes it, which checks what the disk holds.
    func matches(_ digest: ContentDigest) throws(TransferFault) -> Bool {
        guard let found = FileHash.bytes(of: descriptor, digest.algorithm) else {
            throw fault("read")
        }
        return found == digest.bytes
    }

    /// Whether the download is already in place: the unfinished file is gone, and the file at the
    /// final path has the same inode.
    static func isPlaced(
        _ request: TransferRequest,
        within access: TransferAccess,
        inode: UInt64,
        length: Int64,
        digest: ContentDigest?
    ) throws(TransferFault) -> Bool {
        let (folder, name) = try access.openFolder(of: request.file)
        defer { close(folder) }
        var status = stat()
        let partName = prefix + request.id.description + ".part"
        guard fstatat(folder, partName, &status, AT_SYMLINK_NOFOLLOW) != 0, errno == ENOENT else {
            return false
        }
        let descriptor = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            UInt64(status.st_ino) == inode, Int64(status.st_size) == length
        else { return false }
        guard let digest else { return true }
        return FileHash.bytes(of: descriptor, digest.algorithm) == digest.bytes
    }

    /// Moves the file, which is already on the disk, into place, and waits until that is on the
    /// disk too.
    func place() throws(TransferFault) {
        var named = stat()
        var opened = stat()
        // Another process may have put another file under this name.
        guard fstatat(folder, partName, &named, AT_SYMLINK_NOFOLLOW) == 0,
            fstat(descriptor, &opened) == 0, named.st_ino == opened.st_ino,
            named.st_dev == opened.st_dev
        else {
            throw TransferFault(
                .contradiction,
                "`\(Printable.text(path, limit: 300))`: its unfinished file was taken away"
            )
        }
        guard renameat(folder, partName, folder, name) == 0 else { throw fault("rename") }
        guard fsync(folder) == 0 else { throw fault("sync the folder of") }
    }

    private func fault(_ operation: String, _ code: Int32 = errno) -> TransferFault {
        TransferAccess.fault(path, SystemError(operation, code: code))
    }
}

/// The threads that wait for disks.
///
/// The first caller creates them.
///
/// They are separate, so that a slow disk stalls neither lookups nor connections. There are more
/// than cores, since they wait most of the time: syncs of many files at once cost little more than
/// one.
enum DiskThreads {
    private static let pool: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 16)
        pool.start()
        return pool
    }()

    /// Starts work on such a thread.
    ///
    /// The work is done even if the caller drops the future.
    static func begin<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value
    ) -> EventLoopFuture<Value> {
        pool.runIfActive(eventLoop: MultiThreadedEventLoopGroup.singleton.next(), work)
    }

    /// Runs work on such a thread for a task that awaits it; no event loop has to be woken.
    static func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            // The pool is never shut down, so the work always runs and the state need not be
            // checked.
            pool.submit { _ in continuation.resume(with: Result(catching: work)) }
        }
    }
}

/// Runs blocking work and returns when it is done, even if the task is cancelled: until then, no
/// other work may touch the file.
func onDisk<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await DiskThreads.run(work)
}
