// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import BghostModel
internal import Glibc

/// Appends lines to the log's file and rotates it.
///
/// It blocks; use it on one thread. It never throws: lines that cannot be written are counted, and the first
/// line that can be written again says how many are missing.
///
/// Lines are in the kernel's memory when `write` returns: they survive the end of the process, by SIGKILL too. They
/// reach the disk when the kernel writes them, or at a rotation and at the end of the daemon.
final class LogFileWriter {
    let path: LogPath
    var format: LogSettings.Format
    var bytesMax: UInt64
    var olderFiles: Int

    /// Why lines cannot be written; `nil` if they can.
    private(set) var problem: LogFileError?
    /// Lines that were not written, since the start.
    private(set) var lost: UInt64 = 0
    /// Whether the file has another name now.
    private(set) var isMoved = false
    /// Where the lines of this daemon begin.
    private(set) var start: LogCursor?

    private var fd: Int32 = -1
    private var inode: UInt64 = 0
    private var size: UInt64 = 0
    /// Lines that are missing where the next one is written.
    private var missing = 0
    private var reason = ""
    /// Whether the file ends with half a line.
    private var isTorn = false
    /// After a failed rotation, the size at which the next one is tried.
    private var rotateAt: UInt64 = 0

    init(_ path: LogPath, _ settings: LogSettings) {
        self.path = path
        format = settings.format
        bytesMax = settings.bytesMax
        olderFiles = settings.olderFiles
    }

    deinit { closeFile() }

    // MARK: Lines

    /// Appends lines.
    ///
    /// - Parameter dropped: how many lines before them could not wait for this call.
    func write(_ lines: [LogEntry], dropped: Int = 0) {
        if dropped > 0 { lose(dropped, "the disk was too slow") }
        reopenIfDeleted()
        if fd < 0, !begin() { return lose(lines.count) }
        var bytes: [UInt8] = []
        var count = 0
        for line in lines {
            let text = LogLineFormat.line(line, format)
            let end = size + UInt64(bytes.count + text.count)
            if end > bytesMax, size + UInt64(bytes.count) > 0, end > rotateAt {
                append(bytes, count)
                (bytes, count) = ([], 0)
                rotate()
            } else if bytes.count > Self.batchBytes {
                append(bytes, count)
                (bytes, count) = ([], 0)
            }
            bytes += text
            count += 1
        }
        append(bytes, count)
    }

    private static let batchBytes = 256 << 10

    private func append(_ bytes: [UInt8], _ count: Int) {
        guard count > 0 else { return }
        guard fd >= 0 else { return lose(count) }
        if missing > 0 {
            // Before the lines, in the place of those that are missing.
            let note = LogLineFormat.line(Self.note(missing, reason), format)
            guard put(isTorn ? [UInt8(ascii: "\n")] + note : note) else { return lose(count) }
            (missing, isTorn) = (0, false)
        }
        guard put(bytes) else { return lose(count) }
        if rotateAt == 0 { problem = nil }
    }

    /// Writes all bytes or none.
    private func put(_ bytes: [UInt8]) -> Bool {
        var offset = 0
        while offset < bytes.count {
            let written = bytes.withUnsafeBytes { buffer in
                Glibc.write(fd, buffer.baseAddress.map { $0 + offset }, buffer.count - offset)
            }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else {
                problem = LogPath.error("write into", path.live)
                // Half a line would spoil the next one.
                if offset > 0, ftruncate(fd, off_t(size)) != 0 {
                    size += UInt64(offset)
                    isTorn = true
                }
                return false
            }
            offset += written
        }
        size += UInt64(bytes.count)
        return true
    }

    private func lose(_ count: Int, _ reason: String? = nil) {
        missing += count
        lost += UInt64(count)
        self.reason = reason ?? problem?.description ?? self.reason
    }

    private static func note(_ count: Int, _ reason: String) -> LogEntry {
        LogEntry(
            sequence: 0,
            time: WallClock.now,
            level: .warning,
            source: .host,
            event: "log.dropped",
            message: "\(CountText.of(count, "line"))" + (count == 1 ? " was" : " were")
                + " not written here: \(reason)"
        )
    }

    // MARK: The file

    /// Opens the file; returns whether it could.
    @discardableResult
    func begin() -> Bool {
        do throws(LogFileError) {
            fd = try path.open()
        } catch {
            problem = error
            return false
        }
        var status = stat()
        guard fstat(fd, &status) == 0 else { return end(LogPath.error("look at", path.live)) }
        inode = UInt64(status.st_ino)
        size = UInt64(max(0, status.st_size))
        rotateAt = 0
        isMoved = false
        problem = nil
        if bytes(at: 0, Self.database.count) == Self.database {
            return end(
                LogFileError(
                    "\(path.live) is a database and no log; name another file in `host.log.file`",
                    isAboutKind: true
                )
            )
        }
        // A daemon that was killed may have left half a line.
        if size > 0, bytes(at: size - 1, 1) != [UInt8(ascii: "\n")], !put([UInt8(ascii: "\n")]) {
            return end(problem)
        }
        if start == nil { start = LogCursor(file: inode, offset: size) }
        return true
    }

    private func end(_ problem: LogFileError?) -> Bool {
        closeFile()
        self.problem = problem
        return false
    }

    /// How a file of SQLite begins; the state directory has some.
    private static let database = Array("SQLite format 3".utf8)

    private func bytes(at offset: UInt64, _ count: Int) -> [UInt8] {
        // The writer's descriptor cannot read.
        let reader = open(path.live, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard reader >= 0 else { return [] }
        defer { close(reader) }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
            length = max(0, pread(reader, buffer.baseAddress, count, off_t(offset)))
        }
    }

    /// Opens the file again if it was deleted: lines in it could not be found any more.
    ///
    /// One that was moved is written on until a reload, since the program that moved it makes the next one.
    private func reopenIfDeleted() {
        guard fd >= 0 else { return }
        var (own, named) = (stat(), stat())
        guard fstat(fd, &own) == 0 else { return }
        isMoved =
            lstat(path.live, &named) != 0 || named.st_ino != own.st_ino
            || named.st_dev != own.st_dev
        guard own.st_nlink == 0 else { return }
        closeFile()
    }

    /// Gives up the file and its lock.
    ///
    /// To close it is not enough: a program that is being started has a copy of the descriptor, and with it the
    /// lock, until it is executed.
    private func closeFile() {
        guard fd >= 0 else { return }
        flock(fd, LOCK_UN)
        close(fd)
        fd = -1
    }

    /// Opens the file again if it was moved or deleted, as after a signal of logrotate.
    func reopen() {
        reopenIfDeleted()
        guard fd < 0 || isMoved else { return }
        sync()
        closeFile()
        begin()
    }

    /// Waits until all lines are on the disk.
    func sync() {
        if fd >= 0 { fdatasync(fd) }
    }

    /// Looks whether the file was moved, for those who ask for its state.
    func look() { reopenIfDeleted() }

    // MARK: Rotation

    /// Renames the files and begins another one.
    ///
    /// A crash between two renames leaves a number free, which the next rotation fills.
    private func rotate() {
        sync()
        reopenIfDeleted()
        guard fd >= 0, !isMoved else {
            closeFile()
            begin()
            return
        }
        for number in stride(from: olderFiles - 1, to: 0, by: -1) {
            guard move(path.older(number), path.older(number + 1)) else { return }
        }
        guard olderFiles == 0 ? unlink(path.live) == 0 : move(path.live, path.older(1)) else {
            return
        }
        removeOlder()
        closeFile()
        syncFolder()
        begin()
    }

    private func move(_ from: String, _ to: String) -> Bool {
        guard rename(from, to) != 0, errno != ENOENT else { return true }
        problem = LogPath.error("rename \(from) to", to)
        // The file goes on to grow; the next attempt is a while away.
        rotateAt = size + bytesMax / 8
        return false
    }

    /// Removes files of a greater number than is kept, as after a change of the manifest.
    private func removeOlder() {
        var number = max(1, olderFiles + 1)
        while number <= Self.olderMax, unlink(path.older(number)) == 0 { number += 1 }
    }

    /// The greatest number that the manifest permits.
    static let olderMax = 50

    private func syncFolder() {
        let folder = open(path.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }
}
