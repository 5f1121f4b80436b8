// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import Glibc

/// Checks a `-wal` for damage that SQLite ignores silently.
///
/// SQLite ends the log at the first frame with a wrong checksum: that is right for a transaction
/// that was being written when the power failed, and wrong for one that was answered. The later
/// frames show which one it was. Each transaction is synced before the frames of the next one are
/// written, so if the ends of two transactions follow a wrong frame, that frame belongs to a
/// transaction that was on the disk. This needs no other file. Damage in the very last transaction
/// looks like one that was being written; only the lock file can reveal it.
///
/// A transaction that was rolled back leaves frames without an end, and each start begins a new
/// log, so all ends after a wrong frame belong to later transactions.
struct WriteAheadLog {
    private static let headerSize = 32
    private static let frameHeaderSize = 24

    /// The header of a frame, before its page.
    private struct FrameHeader {
        let endsTransaction: Bool
        let salts: (UInt32, UInt32)
        let sum: (UInt32, UInt32)
    }

    private let fd: Int32
    private var isBigEndian = false
    private var sum: (UInt32, UInt32) = (0, 0)

    /// Throws if a transaction in the log was damaged after it had been synced.
    ///
    /// No connection to the database may be open.
    static func check(_ path: String) throws(SQLiteFailure) {
        let fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        // A missing log contains nothing; SQLite itself reports why it cannot be read.
        guard fd >= 0 else { return }
        defer { close(fd) }
        var log = WriteAheadLog(fd: fd)
        guard try log.isWhole() else {
            throw .damaged(
                "its -wal is damaged before its last transaction: changes that were accepted"
                    + " cannot be read"
            )
        }
    }

    private init(fd: Int32) { self.fd = fd }

    private mutating func isWhole() throws(SQLiteFailure) -> Bool {
        let header = try read(Self.headerSize, at: 0)
        // A power failure leaves this of a log whose beginning was never synced.
        guard header.count == Self.headerSize, header.contains(where: { $0 != 0 }) else {
            return true
        }
        let words = Self.words(header[...])
        guard words[0] & 0xFFFF_FFFE == 0x377F_0682 else { return false }
        isBigEndian = words[0] & 1 == 1
        add(header[..<24])
        // The header is synced before any frame is written.
        guard sum == (words[6], words[7]) else { return false }
        let pageSize = Int(words[2])
        guard (512...65_536).contains(pageSize), pageSize & (pageSize - 1) == 0 else {
            return false
        }
        return try areFramesWhole(pageSize, salts: (words[4], words[5]))
    }

    private mutating func areFramesWhole(
        _ pageSize: Int,
        salts: (UInt32, UInt32)
    ) throws(SQLiteFailure) -> Bool {
        let size = Self.frameHeaderSize + pageSize
        var offset = off_t(Self.headerSize)
        var isWrong = false
        var ends = 0
        while true {
            // After a wrong frame, only the headers are needed.
            let frame = try read(isWrong ? Self.frameHeaderSize : size, at: offset)
            guard frame.count >= (isWrong ? Self.frameHeaderSize : size) else { return true }
            offset += off_t(size)
            let header = Self.header(frame)
            if !isWrong {
                add(frame[..<8])
                add(frame[Self.frameHeaderSize...])
                isWrong = header.salts != salts || sum != header.sum
            }
            // One matching salt suffices: frames of older logs match neither, and the other salt
            // may be damaged.
            let isOfThisLog = header.salts.0 == salts.0 || header.salts.1 == salts.1
            if isWrong, isOfThisLog, header.endsTransaction { ends += 1 }
            guard ends < 2 else { return false }
        }
    }

    private static func header(_ frame: [UInt8]) -> FrameHeader {
        let words = words(frame[..<frameHeaderSize])
        return FrameHeader(
            endsTransaction: words[1] != 0,
            salts: (words[2], words[3]),
            sum: (words[4], words[5])
        )
    }

    // MARK: Bytes

    /// Adds bytes to the running checksum of the log's format.
    private mutating func add(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { bytes in
            for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
                let first = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let second = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                sum.0 &+= (isBigEndian ? first.byteSwapped : first) &+ sum.1
                sum.1 &+= (isBigEndian ? second.byteSwapped : second) &+ sum.0
            }
        }
    }

    private static func words(_ bytes: ArraySlice<UInt8>) -> [UInt32] {
        bytes.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count - 3, by: 4).map {
                UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt32.self))
            }
        }
    }

    /// Reads bytes; returns fewer at the end of the file.
    private func read(_ count: Int, at offset: off_t) throws(SQLiteFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var total = 0
        while total < count {
            let got = bytes.withUnsafeMutableBytes {
                pread(fd, $0.baseAddress.map { $0 + total }, count - total, offset + off_t(total))
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else {
                throw SQLiteFailure(
                    code: SQLITE_IOERR,
                    systemError: errno,
                    text: "its -wal cannot be read"
                )
            }
            guard got > 0 else { break }
            total += got
        }
        return Array(bytes.prefix(total))
    }
}
