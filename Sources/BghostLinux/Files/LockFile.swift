// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// Why a daemon could not lock its lock file.
package enum LockFault: Error, Equatable {
    /// Another process holds the lock; `owner` is its process ID, `nil` if the file names none.
    case held(owner: Int32?)
    /// The kernel refused to open or to lock the file; `code` is its error number.
    case cannotLock(code: Int32)
    /// The kernel refused to write the process ID into the file; `code` is its error number.
    case cannotWrite(code: Int32)
}

/// A file that only one process at a time can lock.
package enum LockFile {
    /// Opens and locks the file.
    ///
    /// ``release(_:)`` releases the lock. Closing the descriptor does so only once no child process has a
    /// copy of it, and a child has one until it executes its program.
    ///
    /// - Parameter wait: how long to wait for another process that holds the lock, milliseconds; the
    ///   calling thread blocks.
    /// - Returns: the descriptor, or a negative error number; `-EAGAIN` if another process holds
    ///   the lock.
    package static func open(_ path: String, wait: Int64 = 0) -> Int32 {
        bgs_lock_file(path, wait)
    }

    /// Opens and locks the file, and writes the ID of this process into it.
    ///
    /// The kernel holds the lock, and releases it when the process ends in any way. The ID is for messages
    /// only; a file that remains locks nothing.
    ///
    /// - Parameter deadOwnerWait: how long to wait, milliseconds, if the process that the file names has
    ///   ended. A child that a killed daemon was about to execute has a copy of the lock for a moment. The
    ///   calling thread blocks.
    /// - Returns: the descriptor, for ``release(_:)``.
    package static func claim(_ path: String, deadOwnerWait: Int64) throws(LockFault) -> Int32 {
        var fd = open(path)
        if fd == -EAGAIN, hasEnded(owner(of: path)) {
            fd = open(path, wait: deadOwnerWait)
        }
        guard fd != -EAGAIN else { throw .held(owner: owner(of: path)) }
        guard fd >= 0 else { throw .cannotLock(code: 0 - fd) }
        let line = Array("\(getpid())\n".utf8)
        guard ftruncate(fd, 0) == 0, pwrite(fd, line, line.count, 0) == line.count else {
            let code = errno
            close(fd)
            throw .cannotWrite(code: code)
        }
        return fd
    }

    /// Releases a lock, also for the copies of its descriptor, and closes the descriptor.
    ///
    /// It does not block.
    package static func release(_ fd: Int32) {
        var whole = flock()
        whole.l_type = Int16(F_UNLCK)
        whole.l_whence = Int16(SEEK_SET)
        // Without an unlock, closing releases the lock a moment later, as `open` says.
        _ = fcntl(fd, setLockOfFile, &whole)
        close(fd)
    }

    /// F_OFD_SETLK, which Glibc's module does not have; such a lock belongs to the open file, not to the process.
    private static let setLockOfFile: Int32 = 37

    /// The process ID in a lock file; `nil` if it contains none.
    private static func owner(of path: String) -> Int32? {
        guard let text = readFile(path, bytesMax: 32) else { return nil }
        let digits = text.prefix { $0 != UInt8(ascii: "\n") }
        return Int32(String(decoding: digits, as: UTF8.self)).flatMap { $0 > 0 ? $0 : nil }
    }

    /// Whether a process is known to have ended.
    private static func hasEnded(_ pid: Int32?) -> Bool {
        guard let pid else { return false }
        return kill(pid, 0) != 0 && errno == ESRCH
    }
}
