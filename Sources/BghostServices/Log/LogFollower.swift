// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel
internal import Synchronization

/// The lines that wait for one reader of the log, limited in number and in bytes.
///
/// A reader that is slower than the log loses the oldest of them, and is told how many. One that takes none while
/// ``cutAfter`` are lost is cut off: its stream ends with a line that says so. Any thread may use it, but only
/// one task may wait for the next line.
final class LogFollower: Sendable {
    private struct State {
        /// The lines, from index `first` on.
        var lines: [LogEntry] = []
        var first = 0
        var bytes = 0
        var dropped = 0
        var lastDropped: LogEntry?
        var isEnded = false
        var isCut = false
        var reader: CheckedContinuation<LogEntry?, Never>?

        var count: Int { lines.count - first }

        mutating func append(_ line: LogEntry, linesMax: Int, bytesMax: Int) {
            lines.append(line)
            bytes += LogFollower.cost(of: line)
            while count > 1, count > linesMax || bytes > bytesMax {
                lastDropped = popFirst()
                dropped += 1
            }
            guard dropped >= LogFollower.cutAfter else { return }
            dropped += count
            (lines, first, bytes) = ([], 0, 0)
            lastDropped = line
            (isCut, isEnded) = (true, true)
        }

        mutating func popFirst() -> LogEntry? {
            guard first < lines.count else { return nil }
            let line = lines[first]
            first += 1
            bytes -= LogFollower.cost(of: line)
            if first > 64, first > lines.count / 2 {
                lines.removeFirst(first)
                first = 0
            }
            return line
        }
    }

    /// The most lines and bytes that wait, besides the lines with which it began.
    static let linesMax = 1024
    static let bytesMax = 2 << 20
    /// A reader that loses so many lines in one wait is cut off.
    static let cutAfter = 8192

    let filter: LogFilter
    private let linesMax: Int
    private let bytesMax: Int
    private let state = Mutex(State())

    /// - Parameter limit: how many lines from before it may begin with.
    init(_ filter: LogFilter, limit: Int) {
        self.filter = filter
        // The lines from before are in the ring anyway, and have at most its size.
        linesMax = Self.linesMax + max(0, limit)
        bytesMax = limit > 0 ? 8 << 20 + Self.bytesMax : Self.bytesMax
    }

    private static func cost(of line: LogEntry) -> Int { line.message.utf8.count + 256 }

    /// Puts lines from before in front of those that have come since; call it before the first `next`.
    func begin(with old: [LogEntry]) {
        guard !old.isEmpty else { return }
        state.withLock { state in
            let new = state.lines[state.first...]
            (state.lines, state.first, state.bytes) = ([], 0, 0)
            for line in old + new {
                state.append(line, linesMax: linesMax, bytesMax: bytesMax)
            }
        }
    }

    /// Adds a line; never waits.
    func offer(_ line: LogEntry) {
        let reader = state.withLock { state -> CheckedContinuation<LogEntry?, Never>? in
            guard !state.isEnded else { return nil }
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            state.append(line, linesMax: linesMax, bytesMax: bytesMax)
            return nil
        }
        reader?.resume(returning: line)
    }

    /// The next line; `nil` after the end.
    func next() async -> LogEntry? {
        await withCheckedContinuation { continuation in
            let answer = state.withLock { state -> LogEntry?? in
                if state.dropped > 0, let last = state.lastDropped {
                    let note = Self.note(state.dropped, last, isCut: state.isCut)
                    state.dropped = 0
                    return note
                }
                if let line = state.popFirst() { return line }
                if state.isEnded { return .some(nil) }
                state.reader = continuation
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Ends it after the lines that wait.
    func end() {
        let reader = state.withLock { state in
            state.isEnded = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: nil)
    }

    private static func note(_ count: Int, _ last: LogEntry, isCut: Bool) -> LogEntry {
        LogEntry(
            sequence: last.sequence,
            time: last.time,
            level: .warning,
            source: .host,
            event: isCut ? "log.cut" : "log.dropped",
            message: "\(CountText.of(count, "line"))" + (count == 1 ? " was" : " were")
                + " dropped here: this reader is slower than the log"
                + (isCut ? ", so it is cut off; ask again for what follows" : "")
        )
    }
}

/// Removes a follower from the log when its stream is released.
final class LogLease: Sendable {
    let follower: LogFollower
    private let onEnd: @Sendable () -> Void

    init(_ follower: LogFollower, onEnd: @escaping @Sendable () -> Void) {
        self.follower = follower
        self.onEnd = onEnd
    }

    deinit { onEnd() }
}
