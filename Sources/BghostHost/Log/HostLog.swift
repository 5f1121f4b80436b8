// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostLinux
internal import Synchronization

/// The daemon's log: a ring of the newest lines for those who ask, and a console.
///
/// Safe to use from any thread. Writing a line never waits for the console: a reader that is slow
/// loses lines, which are counted, and not the daemon its time.
package final class HostLog: Sendable {
    private struct State {
        var ring: [LogEntry] = []
        var head = 0
        var sequence: UInt64 = 0
        var followers: [UInt64: Follower] = [:]
        var lastFollower: UInt64 = 0
    }

    private struct Follower {
        let filter: LogFilter
        let continuation: AsyncStream<LogEntry>.Continuation
    }

    private let state = Mutex(State())
    private let level: LogEntry.Level
    private let linesMax: Int
    private let console: (any LogConsole)?

    /// - Parameters:
    ///   - level: lines below it are not kept.
    ///   - linesMax: how many lines are kept.
    ///   - console: where each line goes besides; it must not block.
    package init(
        level: LogEntry.Level = .info,
        linesMax: Int = 8192,
        console: (any LogConsole)? = nil
    ) {
        self.level = level
        self.linesMax = max(1, linesMax)
        self.console = console
    }

    /// Whether lines of this level are kept: ask before making an expensive one.
    package func keeps(_ level: LogEntry.Level) -> Bool { level >= self.level }

    /// Adds a line.
    ///
    /// Its sequence number is set here, its text is made safe to print.
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
            message: PrintableText.escaped(message()),
            task: task,
            plugin: plugin,
            run: run
        )
        let followers = state.withLock { state -> [Follower] in
            state.sequence += 1
            entry.sequence = state.sequence
            if state.ring.count < linesMax {
                state.ring.append(entry)
            } else {
                state.ring[state.head] = entry
                state.head = (state.head + 1) % linesMax
            }
            guard !state.followers.isEmpty else { return [] }
            return state.followers.values.filter { $0.filter.matches(entry) }
        }
        for follower in followers { follower.continuation.yield(entry) }
        console?.write(entry)
    }

    /// The newest lines that match, oldest first.
    package func entries(matching filter: LogFilter, limit: Int) -> [LogEntry] {
        state.withLock { Self.entries(in: $0, matching: filter, limit: limit) }
    }

    /// The newest lines that match, and each new one as it comes.
    ///
    /// A consumer that is more than 1024 lines behind loses the oldest of them.
    package func follow(matching filter: LogFilter, limit: Int) -> AsyncStream<LogEntry> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LogEntry.self,
            bufferingPolicy: .bufferingNewest(1024 + max(0, limit))
        )
        // One lock for both, so that no line falls between the old and the new.
        let number = state.withLock { state in
            for entry in Self.entries(in: state, matching: filter, limit: limit) {
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

    /// Ends the streams of all followers.
    package func endFollowers() {
        let followers = state.withLock { state in
            defer { state.followers = [:] }
            return state.followers.values.map(\.continuation)
        }
        for continuation in followers { continuation.finish() }
    }

    private static func entries(
        in state: borrowing State,
        matching filter: LogFilter,
        limit: Int
    ) -> [LogEntry] {
        var found: [LogEntry] = []
        let count = state.ring.count
        var offset = 1
        while offset <= count, found.count < limit {
            let entry = state.ring[(state.head + count - offset) % count]
            if filter.matches(entry) { found.append(entry) }
            offset += 1
        }
        return found.reversed()
    }
}

/// Where lines are shown.
///
/// `write` must not block and may be called on any thread.
package protocol LogConsole: Sendable {
    func write(_ entry: LogEntry)
}
