// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostLinux
package import BghostModel
internal import Synchronization

/// The daemon's log: the newest lines for queries and followers, a console, and files.
///
/// Any thread may use it. To write a line never waits for a slow reader, the console or a disk: they lose
/// lines, and the daemon loses no time.
package final class HostLog: Sendable {
    private struct State {
        var ring: LogRing
        var policy = LogPolicy()
        var sequence: UInt64 = 0
        var followers: [UInt64: LogFollower] = [:]
        var lastFollower: UInt64 = 0

        mutating func add(_ entry: inout LogEntry) {
            sequence += 1
            entry.sequence = sequence
            ring.append(entry)
        }
    }

    private let state: Mutex<State>
    private let level: LogEntry.Level
    private let console: (any LogConsole)?
    /// The files; `nil` where none can be written.
    package let archive: (any LogArchive)?
    private let clock: @Sendable () -> MonotonicInstant

    /// Creates an empty log.
    ///
    /// - Parameters:
    ///   - level: the lowest level that is kept.
    ///   - linesMax: the maximum number of kept lines.
    ///   - bytesMax: the maximum size of the kept lines, in bytes.
    ///   - console: also gets each line; it must not block.
    ///   - archive: also gets each line, and keeps it in files.
    ///   - clock: the time for the limits of a second.
    package init(
        level: LogEntry.Level = .info,
        linesMax: Int = 8192,
        bytesMax: Int = 8 << 20,
        console: (any LogConsole)? = nil,
        archive: (any LogArchive)? = nil,
        clock: @escaping @Sendable () -> MonotonicInstant = { Monotonic.now }
    ) {
        self.level = level
        state = Mutex(State(ring: LogRing(linesMax: linesMax, bytesMax: bytesMax)))
        self.console = console
        self.archive = archive
        self.clock = clock
    }

    /// Whether lines of this level are kept; check it before creating an expensive line.
    package func keeps(_ level: LogEntry.Level) -> Bool { level >= self.level }

    /// Takes up how the log is written; the archive opens its file on a thread of its own.
    package func apply(_ settings: LogSettings) {
        state.withLock { $0.policy.apply(settings) }
        archive?.apply(settings)
    }

    /// How many lines of plugins were not written because a plugin wrote too much.
    package var limited: UInt64 { state.withLock { $0.policy.limited } }

    // MARK: Writing

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
        run: RunID? = nil,
        trace: RunTrace? = nil
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
            run: run,
            trace: trace?.context.traceID
        )
        let second = clock().nanoseconds / 1_000_000_000
        let (followers, summaries, isWritten) = state.withLock { state in
            let summaries = state.policy.advance(to: second).map { summary in
                var line = Self.line(summary, at: entry.time)
                state.add(&line)
                return line
            }
            let isWritten = state.policy.admit(entry)
            state.add(&entry)
            return (Array(state.followers.values), summaries, isWritten)
        }
        for line in summaries { deliver(line, followers, isWritten: true) }
        deliver(entry, followers, isWritten: isWritten)
    }

    private func deliver(_ line: LogEntry, _ followers: [LogFollower], isWritten: Bool) {
        for follower in followers where follower.filter.matches(line) { follower.offer(line) }
        guard isWritten else { return }
        console?.write(line)
        archive?.write(line)
    }

    private static func line(_ summary: LogPolicy.Summary, at time: Int64) -> LogEntry {
        LogEntry(
            sequence: 0,
            time: time,
            level: summary.level,
            source: .host,
            event: summary.event,
            message: summary.message,
            plugin: summary.plugin.isEmpty ? nil : summary.plugin
        )
    }

    // MARK: Questions

    /// The lines in memory that match a filter.
    package struct Recent: Equatable, Sendable {
        /// The newest ones, oldest first.
        package var entries: [LogEntry]
        /// Notes in the places of dropped lines.
        package var gaps: [LogEntry]
        /// All lines from this sequence number on are in memory.
        package var completeFrom: UInt64
        /// When the first of these was written, Unix nanoseconds; `nil` if there is none.
        package var completeSince: Int64?
    }

    /// The newest matching lines, oldest first.
    package func entries(matching filter: LogFilter, limit: Int) -> [LogEntry] {
        entries(before: .max, matching: filter, limit: limit)
    }

    /// The newest matching lines, and what is missing between them.
    ///
    /// - Parameter before: only lines with smaller sequence numbers.
    package func recent(
        before: UInt64 = .max,
        matching filter: LogFilter,
        limit: Int
    ) -> Recent {
        let (gaps, from, since) = state.withLock {
            ($0.ring.gaps, $0.ring.completeFrom, $0.ring.completeSince)
        }
        let found = entries(before: before, matching: filter, limit: limit)
        var own = filter
        own.run = nil
        let shown = gaps.filter { gap in
            guard own.matches(gap), gap.sequence < before else { return false }
            // Of a run only the plugin is known here.
            return filter.run == nil || found.contains { $0.plugin == gap.plugin }
        }
        // Those before the first line of a full page belong to the page before.
        let first = found.count < limit ? 0 : found.first?.sequence ?? 0
        return Recent(
            entries: found,
            gaps: shown.filter { $0.sequence > first },
            completeFrom: from,
            completeSince: since
        )
    }

    /// Searches in pieces, so that writers wait for a few hundred lines at most.
    private func entries(before: UInt64, matching filter: LogFilter, limit: Int) -> [LogEntry] {
        var found: [LogEntry] = []
        var next: UInt64? = before
        while let before = next, found.count < limit {
            let piece = state.withLock {
                $0.ring.entries(
                    before: before,
                    matching: filter,
                    limit: limit - found.count,
                    looksMax: Self.looksMax
                )
            }
            found += piece.found
            next = piece.next
        }
        return found.reversed()
    }

    private static let looksMax = 512

    /// The newest matching lines, and each new one when it is written.
    ///
    /// A consumer that is more than 1024 lines or 2 MiB behind loses the oldest of them.
    ///
    /// - Returns: the lines, and a function that ends them after those that wait. Any thread may call it.
    package func follow(
        matching filter: LogFilter,
        limit: Int
    ) -> (lines: AsyncStream<LogEntry>, end: @Sendable () -> Void) {
        let follower = LogFollower(filter, limit: limit)
        // Lines after `last` come to the follower; those up to it are looked up.
        let (number, last) = state.withLock { state in
            state.lastFollower += 1
            state.followers[state.lastFollower] = follower
            return (state.lastFollower, state.sequence)
        }
        follower.begin(with: entries(before: last + 1, matching: filter, limit: limit))
        let lease = LogLease(follower) { [weak self] in
            self?.state.withLock { $0.followers[number] = nil }
        }
        let lines = AsyncStream {
            await lease.follower.next()
        } onCancel: {
            follower.end()
        }
        return (lines, { follower.end() })
    }

    var followersCount: Int { state.withLock { $0.followers.count } }

    /// Finishes the streams of all followers.
    package func endFollowers() {
        let followers = state.withLock { state in
            defer { state.followers = [:] }
            return Array(state.followers.values)
        }
        for follower in followers { follower.end() }
    }

    /// The maximum size of a line in bytes, equal to that of a worker's frame.
    private static let lineBytesMax = 128 << 10

    /// Cuts a line that is too long.
    private static func cut(_ line: String) -> String {
        guard line.utf8.count > lineBytesMax else { return line }
        let kept = line.prefix(bytes: lineBytesMax)
        return kept + "… (\(line.utf8.count - kept.utf8.count) more bytes)"
    }
}
