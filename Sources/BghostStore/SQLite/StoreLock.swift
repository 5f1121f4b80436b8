// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import Glibc

/// The lock file beside the database, which one daemon at a time holds.
///
/// It also contains the last line of the journal up to which commits were answered. It is written
/// after the sync and is not synced itself, so it never names a line that is not on the disk. If
/// the journal ends before that line, accepted commits are lost: the `-wal` was damaged, or the
/// database was replaced by an older one or removed.
///
/// A second line has the number of the last start, which counts on if an older copy takes the place of the
/// database.
///
/// The lock is on a separate file, because closing any descriptor of the database drops the locks
/// that SQLite holds on it.
final class StoreLock: Sendable {
    private let fd: Int32
    /// The line that the previous process wrote; 0 if there was none, or if it cannot be read.
    let acceptedBefore: Int64
    /// The number of the last start; 0 if there was none, or if it cannot be read.
    let incarnation: UInt32

    /// Each line has so many bytes of the file, and zeros fill it up: earlier versions read the first one only.
    private static let width = 96

    /// - Parameter database: the path of the database.
    init(database: String) throws(StoreError) {
        let path = database + "-lock"
        let fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard fd >= 0 else {
            let code = errno
            throw StoreError(
                "cannot open \(path): \(String(cString: strerror(code))); make the folder writable"
                    + " for the daemon's user",
                kind: [EROFS, EACCES, EPERM].contains(code) ? .readOnly : .other
            )
        }
        let isMine = flock(fd, LOCK_EX | LOCK_NB) == 0
        let before = Self.line(of: fd, at: 0)
        guard isMine else {
            let owner = Self.read(before).map { "process \($0.process)" } ?? "another process"
            close(fd)
            throw StoreError(
                "\(database) is in use by \(owner); stop it, or give this daemon a state directory"
                    + " of its own",
                kind: .taken
            )
        }
        self.fd = fd
        acceptedBefore = Self.read(before)?.accepted ?? 0
        incarnation = Self.readIncarnation(Self.line(of: fd, at: Self.width)) ?? 0
        // Another process can then see which process holds the lock, even before the database is
        // written.
        accept(acceptedBefore)
    }

    deinit {
        // Unlock explicitly: a child process that is being started may briefly have a copy of the
        // descriptor.
        flock(fd, LOCK_UN)
        close(fd)
    }

    /// Records that all lines of the journal up to this one are on the disk.
    ///
    /// - Returns: whether it was written. This is only a second line of defence: commits continue
    ///   without it.
    @discardableResult
    func accept(_ line: Int64) -> Bool {
        let text = Self.line(process: getpid(), accepted: line)
        return text.withUnsafeBytes { pwrite(fd, $0.baseAddress, $0.count, 0) } == text.count
    }

    /// Records a line that may be before the one in the file; blocks until it is on the disk.
    func lower(to line: Int64) throws(SQLiteFailure) {
        guard accept(line), fsync(fd) == 0 else {
            throw SQLiteFailure(
                code: SQLITE_IOERR,
                systemError: errno,
                text: "its lock file cannot be written"
            )
        }
    }

    /// Records the number of the start.
    ///
    /// A failure is no error: the number in the store and the clock remain.
    func record(incarnation: UInt32) {
        var line = Array("incarnation ".utf8)
        Self.append(UInt64(incarnation), 10, to: &line)
        line += " check ".utf8
        Self.append(Self.check(0, Int64(incarnation)), 20, to: &line)
        line.append(UInt8(ascii: "\n"))
        line.withUnsafeBytes { bytes in
            // The start goes on without it.
            _ = pwrite(fd, bytes.baseAddress, bytes.count, off_t(Self.width))
        }
    }

    /// Releases the lock before this object is deallocated.
    func release() { flock(fd, LOCK_UN) }

    private static func line(process: Int32, accepted: Int64) -> [UInt8] {
        var line = Array("bghost process ".utf8)
        append(UInt64(UInt32(bitPattern: process)), 10, to: &line)
        line += " journal ".utf8
        append(UInt64(bitPattern: accepted), 20, to: &line)
        line += " check ".utf8
        append(check(process, accepted), 20, to: &line)
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// Appends a number with a fixed width, so that a new line always overwrites the previous one.
    private static func append(_ number: UInt64, _ digits: Int, to line: inout [UInt8]) {
        var number = number
        let end = line.count
        line += repeatElement(UInt8(ascii: "0"), count: digits)
        for index in stride(from: end + digits - 1, through: end, by: -1) {
            line[index] += UInt8(number % 10)
            number /= 10
        }
    }

    private static func check(_ process: Int32, _ accepted: Int64) -> UInt64 {
        var sum = RowSum()
        sum.add(UInt64(UInt32(bitPattern: process)))
        sum.add(UInt64(bitPattern: accepted))
        return sum.value
    }

    private static func line(of fd: Int32, at offset: Int) -> String {
        var line = [UInt8](repeating: 0, count: width)
        let count = pread(fd, &line, line.count, off_t(offset))
        return String(decoding: line.prefix(max(0, count)), as: UTF8.self)
    }

    private static func readIncarnation(_ text: String) -> UInt32? {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "\n" || $0 == "\0" })
        guard words.count == 4, words[0] == "incarnation", let number = UInt32(words[1]),
            UInt64(words[3]) == check(0, Int64(number))
        else { return nil }
        return number
    }

    private static func read(_ text: String) -> (process: Int32, accepted: Int64)? {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "\n" || $0 == "\0" })
        guard words.count == 7, words[0] == "bghost",
            let process = Int32(words[2]), let accepted = Int64(words[4]),
            let check = UInt64(words[6]), check == Self.check(process, accepted)
        else { return nil }
        return (process, accepted)
    }
}
