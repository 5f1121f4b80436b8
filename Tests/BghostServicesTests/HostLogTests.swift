// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
@testable import BghostServices
import Synchronization
import Testing

/// What of the log is written, and what its followers get; time is set by hand.
@Suite(.timeLimit(.minutes(5))) struct HostLogTests {
    private final class Sink: LogConsole {
        private let entries = Mutex<[LogEntry]>([])

        func write(_ entry: LogEntry) { entries.withLock { $0.append(entry) } }

        var lines: [LogEntry] { entries.withLock { $0 } }
    }

    private final class ManualClock: Sendable {
        private let time = Atomic<UInt64>(5_000_000_000)

        var now: MonotonicInstant { MonotonicInstant(nanoseconds: time.load(ordering: .relaxed)) }

        func pass(seconds: UInt64) { time.add(seconds * 1_000_000_000, ordering: .relaxed) }
    }

    private let sink = Sink()
    private let clock = ManualClock()

    private func log(_ settings: LogSettings = LogSettings()) -> HostLog {
        let log = HostLog(console: sink, clock: { [clock] in clock.now })
        log.apply(settings)
        return log
    }

    @Test func `A plugin writes so many lines in a second, and the others are counted`() {
        let log = log(LogSettings(linesPerSecond: 100))
        for number in 0..<250 {
            log.write(.info, "", "\(number)", source: .stdout, plugin: "loud")
            if number % 10 == 0 { log.write(.info, "", "q", source: .stdout, plugin: "quiet") }
        }
        #expect(sink.lines.count { $0.plugin == "loud" } == 100)
        #expect(sink.lines.count { $0.plugin == "quiet" } == 25)
        // Memory has them all.
        #expect(log.entries(matching: LogFilter(plugin: "loud"), limit: 1000).count == 250)
        #expect(log.limited == 150)
        clock.pass(seconds: 1)
        log.write(.info, "", "next", source: .stdout, plugin: "loud")
        let last = sink.lines.suffix(2)
        #expect(last.first?.event == "log.limited" && last.first?.level == .warning)
        #expect(last.first?.message.hasPrefix("150 lines of plugin loud were not written") == true)
        #expect(last.last?.message == "next")
        let sequences = sink.lines.map(\.sequence)
        #expect(sequences == sequences.sorted())
    }

    @Test func `Long lines are limited by their bytes`() {
        let log = log()
        let long = String(repeating: "x", count: 100_000)
        for _ in 0..<200 { log.write(.info, "", long, source: .stdout, plugin: "loud") }
        let bytes = sink.lines.reduce(0) { $0 + $1.message.utf8.count }
        #expect(bytes >= 4 << 20 && bytes < 5 << 20)
    }

    @Test func `Lines of the daemon are never limited`() {
        let log = log(LogSettings(linesPerSecond: 1))
        for _ in 0..<5000 { log.write(.warning, "run.ended", "failed", plugin: "p") }
        #expect(sink.lines.count == 5000)
    }

    @Test func `Runs that succeed are summed up, or left out`() {
        for (runs, expected) in [(LogSettings.Runs.all, 51), (.failures, 1), (.summary, 11)] {
            let sink = Sink()
            let clock = ManualClock()
            let log = HostLog(console: sink, clock: { clock.now })
            log.apply(LogSettings(runs: runs))
            for _ in 0..<50 { log.write(.info, "run.ended", "succeeded", plugin: "p") }
            log.write(.warning, "run.ended", "failed", plugin: "p")
            #expect(sink.lines.count == expected, "\(runs)")
            clock.pass(seconds: 1)
            log.write(.info, "", "later")
            let summary = sink.lines.first { $0.event == "run.summary" }
            #expect(
                summary?.message
                    == (runs == .summary
                        ? "40 more runs of plugin p succeeded within a second" : nil)
            )
        }
    }

    @Test func `A line of a megabyte is cut and says its length`() throws {
        let log = log()
        log.write(.info, "", "a\n\u{1B}[2J" + String(repeating: "y", count: 1 << 20))
        let line = try #require(sink.lines.first)
        #expect(line.message.hasPrefix("a\\n\\u{1B}[2J") && line.message.utf8.count < 140 << 10)
        #expect(line.message.hasSuffix("more bytes)"))
    }

    @Test func `A slow follower is bounded in bytes and learns what it lost`() async throws {
        let log = log()
        log.write(.info, "", "before")
        let stream = log.follow(matching: LogFilter(), limit: 1).lines
        let long = String(repeating: "z", count: 100_000)
        for number in 0..<200 { log.write(.info, "", "\(number) \(long)") }
        log.endFollowers()
        var lines: [LogEntry] = []
        for await line in stream { lines.append(line) }
        let bytes = lines.reduce(0) { $0 + $1.message.utf8.count }
        #expect(bytes <= 10 << 20 && bytes > 1 << 20, "\(bytes)")
        let note = try #require(lines.first)
        #expect(note.event == "log.dropped")
        #expect(
            note.message
                == "\(201 - (lines.count - 1)) lines were dropped here: this reader is slower than the log"
        )
        #expect(lines.last?.message.hasPrefix("199 ") == true)
        #expect(lines.dropFirst().first?.sequence == note.sequence + 1)
    }

    @Test func `A follower that reads nothing is cut off, and learns why`() async throws {
        let log = log()
        let slow = log.follow(matching: LogFilter(), limit: 0).lines
        let written = 1024 + 8192 + 5
        for number in 0..<written { log.write(.info, "", "\(number)") }
        var lines: [LogEntry] = []
        for await line in slow { lines.append(line) }
        #expect(lines.map(\.event) == ["log.cut"])
        #expect(
            lines.first?.message
                == "9216 lines were dropped here: this reader is slower than the log, so it is cut off;"
                + " ask again for what follows"
        )
        #expect(lines.first?.level == .warning)
        // A reader that takes lines in between loses none of those that come later.
        let quick = log.follow(matching: LogFilter(), limit: 0).lines
        log.write(.info, "", "after")
        log.endFollowers()
        var later: [String] = []
        for await line in quick { later.append(line.message) }
        #expect(later == ["after"])
    }

    @Test func `A follower gets the lines from before and each new one, once and in order`() async {
        let log = log()
        for number in 0..<10 { log.write(.info, "", "\(number)") }
        let stream = log.follow(matching: LogFilter(level: .info), limit: 3).lines
        for number in 10..<20 { log.write(.info, "", "\(number)") }
        log.endFollowers()
        var lines: [String] = []
        for await line in stream { lines.append(line.message) }
        #expect(lines == (7..<20).map(String.init))
    }

    @Test func `A follower that is gone is forgotten`() async {
        let log = log()
        for _ in 0..<3 {
            let stream = log.follow(matching: LogFilter(), limit: 0).lines
            let task = Task { for await _ in stream {} }
            task.cancel()
            await task.value
        }
        // One that is never read.
        _ = log.follow(matching: LogFilter(), limit: 0)
        #expect(log.followersCount == 0)
    }
}
