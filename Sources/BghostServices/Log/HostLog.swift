// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostLinux
package import BghostModel
internal import Synchronization

/// The daemon's log: the newest lines for queries and followers, and a console.
///
/// Any thread may use it. To write a line never waits for a slow reader or the console: they lose
/// lines, and the daemon loses no time.
package final class HostLog: Sendable {
    private struct State {
        var ring: LogRing
        var sequence: UInt64 = 0
        var followers: [UInt64: Follower] = [:]
        var lastFollower: UInt64 = 0
    }

    private struct Follower {
        let filter: LogFilter
        let continuation: AsyncStream<LogEntry>.Continuation
    }

    private let state: Mutex<State>
    private let level: LogEntry.Level
    private let console: (any LogConsole)?

    /// Creates an empty log.
    ///
    /// - Parameters:
    ///   - level: the lowest level that is kept.
    ///   - linesMax: the maximum number of kept lines.
    ///   - bytesMax: the maximum size of the kept lines, in bytes.
    ///   - console: also gets each line; it must not block.
    package init(
        level: LogEntry.Level = .info,
        linesMax: Int = 8192,
        bytesMax: Int = 8 << 20,
        console: (any LogConsole)? = nil
    ) {
        self.level = level
        state = Mutex(State(ring: LogRing(linesMax: linesMax, bytesMax: bytesMax)))
        self.console = console
    }

    /// Whether lines of this level are kept; check it before creating an expensive line.
    package func keeps(_ level: LogEntry.Level) -> Bool { level >= self.level }

    /// Adds a line.
    ///
    /// The log assigns the sequence number and escapes the text for printing.
    package func write(
        _ level: LogEntry.Level,
        _ event: String,
        _ message: @autoclosure () -> String,
        source: LogEntry.Source = .host,
        task: String? = nil,
        plugin: String? = nil,
        run: RunID? = nil
    ) {
        guard keeps(level) else { return }
        var entry = LogEntry(
            sequence: 0,
            time: WallClock.now,
            level: level,
            source: source,
            event: event,
            message: Self.cut(PrintableText.escaped(message())),
            task: task,
            plugin: plugin,
            run: run
        )
        let followers = state.withLock { state -> [Follower] in
            state.sequence += 1
            entry.sequence = state.sequence
            state.ring.append(entry)
            guard !state.followers.isEmpty else { return [] }
            return state.followers.values.filter { $0.filter.matches(entry) }
        }
        for follower in followers { follower.continuation.yield(entry) }
        console?.write(entry)
    }

    /// The newest matching lines, oldest first.
    package func entries(matching filter: LogFilter, limit: Int) -> [LogEntry] {
        state.withLock { $0.ring.entries(matching: filter, limit: limit) }
    }

    /// The newest matching lines, and each new one when it is written.
    ///
    /// A consumer that is more than 1024 lines behind loses the oldest of them.
    package func follow(matching filter: LogFilter, limit: Int) -> AsyncStream<LogEntry> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LogEntry.self,
            bufferingPolicy: .bufferingNewest(1024 + max(0, limit))
        )
        // Use one critical section, so that no line between the old and the new ones is lost.
        let number = state.withLock { state in
            for entry in state.ring.entries(matching: filter, limit: limit) {
                continuation.yield(entry)
            }
            state.lastFollower += 1
            state.followers[state.lastFollower] = Follower(
                filter: filter,
                continuation: continuation
            )
            return state.lastFollower
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.followers[number] = nil }
        }
        return stream
    }

    /// Finishes the streams of all followers.
    package func endFollowers() {
        let followers = state.withLock { state in
            defer { state.followers = [:] }
            return state.followers.values.map(\.continuation)
        }
        for continuation in followers { continuation.finish() }
    }

    /// The maximum size of a line in bytes, equal to that of a worker's frame.
    private static let lineBytesMax = 128 << 10

    /// Cuts a line that is too long.
    private static func cut(_ line: String) -> String {
        guard line.utf8.count > lineBytesMax else { return line }
        let rest = line.utf8.count - lineBytesMax
        return String(decoding: line.utf8.prefix(lineBytesMax), as: UTF8.self)
            + "… (\(rest) more bytes)"
    }
}

/// Displays the lines of the log.
///
/// `write` must not block, and any thread may call it.
package protocol LogConsole: Sendable {
    func write(_ entry: LogEntry)
}
