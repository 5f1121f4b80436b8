// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import Glibc
internal import Synchronization

/// A file of lines that a thread of its own writes, so that the reactor waits for no disk.
///
/// It ends at the first line that cannot be written, and when too many bytes wait for the disk. What the file then has
/// is the beginning of what was appended, without a gap and without half a line, so a reader can rely on it.
package final class LineFile: Sendable {
    /// Why no more lines are written.
    package enum Ending: Equatable, Sendable {
        /// A write failed.
        ///
        /// - Parameter isWhole: whether the file ends with a whole line; `false` if half a line could not be removed.
        case failed(String, isWhole: Bool)
        /// The disk is too slow: so many bytes wait for it.
        case behind(waiting: Int)
    }

    /// Writes bytes at the end of a file; returns what `write` does, and sets `errno`.
    package typealias Write = @Sendable (_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int

    private struct State {
        /// The size of the lines that the thread has not taken up, bytes.
        var waiting = 0
        var isAccepting = true
        /// Whether a write has failed; lines that wait are then dropped.
        var hasFailed = false
        /// The size of the whole lines in the file, bytes.
        var size = 0
    }

    private enum Room { case free, ended, behind(Int) }

    /// The bytes that wait at most, apart from the line that exceeds it and the one that is being written.
    package let waitingMax: Int
    private let path: String
    private let file: Int32
    private let write: Write
    private let onEnd: @Sendable (Ending) -> Void
    private let thread = WorkThread()
    private let state = Mutex(State())

    /// - Parameters:
    ///   - path: of the file, for messages.
    ///   - file: an empty file that is open for writing; it is closed with this.
    ///   - waitingMax: how many bytes may wait for the disk.
    ///   - write: writes to the file.
    ///   - onEnd: called once if the file ends early, on the thread of the caller of `append` or on its own.
    package init(
        _ path: String,
        file: Int32,
        waitingMax: Int,
        write: @escaping Write = { Glibc.write($0, $1.baseAddress, $1.count) },
        onEnd: @escaping @Sendable (Ending) -> Void
    ) {
        self.path = path
        self.file = file
        self.waitingMax = waitingMax
        self.write = write
        self.onEnd = onEnd
    }

    deinit { close(file) }

    /// Whether further lines are written.
    package var isAccepting: Bool { state.withLock { $0.isAccepting } }

    /// Appends a line; returns at once.
    ///
    /// - Parameters:
    ///   - held: the memory that the line takes while it waits, bytes.
    ///   - line: makes its bytes with the line break, on the thread of the file.
    package func append(holding held: Int, _ line: @escaping @Sendable () throws -> [UInt8]) {
        let room = state.withLock { state -> Room in
            guard state.isAccepting else { return .ended }
            // Whatever its size, a line finds room while little waits: one line has all stored requests.
            guard state.waiting <= waitingMax else {
                state.isAccepting = false
                return .behind(state.waiting)
            }
            state.waiting += held
            return .free
        }
        switch room {
        case .ended: return
        case .behind(let waiting): return onEnd(.behind(waiting: waiting))
        case .free: break
        }
        thread.perform { [self] in
            let hasFailed = state.withLock { state in
                state.waiting -= held
                return state.hasFailed
            }
            guard !hasFailed else { return }
            do {
                try append(line())
            } catch {
                fail(error)
            }
        }
    }

    /// Waits until the lines are written or the file has ended.
    package func finish() async {
        await withCheckedContinuation { continuation in
            thread.perform { continuation.resume() }
        }
        thread.end()
    }

    private func append(_ line: [UInt8]) throws(SystemError) {
        var rest = line[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(file, $0) }
            // A file takes at least one byte, or there is an error.
            guard count > 0 || count < 0 && errno == EINTR else {
                throw SystemError("write", path, code: count < 0 ? errno : EIO)
            }
            rest = rest.dropFirst(max(0, count))
        }
        state.withLock { $0.size += line.count }
    }

    private func fail(_ error: any Error) {
        let (isFirst, size) = state.withLock { state in
            defer { (state.isAccepting, state.hasFailed) = (false, true) }
            return (state.isAccepting, state.size)
        }
        let isWhole = ftruncate(file, off_t(size)) == 0
        if isFirst { onEnd(.failed("\(error)", isWhole: isWhole)) }
    }
}
