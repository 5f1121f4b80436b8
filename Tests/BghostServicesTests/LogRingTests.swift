// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
@testable import BghostServices
import Testing

/// Whose lines stay in the daemon's memory.
@Suite(.timeLimit(.minutes(5))) struct LogRingTests {
    private func line(
        _ sequence: UInt64,
        _ source: LogEntry.Source = .handler,
        plugin: String? = nil,
        task: String? = nil,
        _ message: String = "x"
    ) -> LogEntry {
        LogEntry(
            sequence: sequence,
            time: Int64(sequence),
            level: .info,
            source: source,
            event: "",
            message: message,
            task: task,
            plugin: plugin
        )
    }

    private func all(_ ring: LogRing, _ filter: LogFilter = LogFilter()) -> [LogEntry] {
        ring.entries(before: .max, matching: filter, limit: .max, looksMax: .max).found.reversed()
    }

    @Test func `A plugin that floods drops its own lines only`() {
        var ring = LogRing(linesMax: 1024, bytesMax: 1 << 20)
        for sequence in 1...100 { ring.append(line(UInt64(sequence), .host)) }
        for sequence in 101...150 { ring.append(line(UInt64(sequence), plugin: "quiet")) }
        for sequence in 151...100_150 { ring.append(line(UInt64(sequence), plugin: "loud")) }
        let kept = all(ring)
        #expect(kept.count == 1024)
        #expect(kept.prefix(100).allSatisfy { $0.source == .host })
        #expect(kept.dropFirst(100).prefix(50).allSatisfy { $0.plugin == "quiet" })
        #expect(kept.dropFirst(150).map(\.sequence) == Array(100_150 - 873...100_150))
        #expect(ring.completeFrom == 100_150 - 873)
        let gap = ring.gaps.first
        #expect(ring.gaps.count == 1 && gap?.plugin == "loud" && gap?.event == "log.dropped")
        #expect(gap?.message == "99126 lines of plugin loud were dropped here")
        #expect(gap?.sequence == ring.completeFrom - 1)
    }

    @Test func `Twenty plugins that flood leave the daemon a quarter`() {
        var ring = LogRing(linesMax: 1024, bytesMax: 1 << 20)
        for sequence in 1...2000 { ring.append(line(UInt64(sequence), .host)) }
        for sequence in 2001...60_000 {
            ring.append(line(UInt64(sequence), plugin: "p\(sequence % 20)"))
        }
        let kept = all(ring)
        let own = kept.count { $0.source == .host }
        #expect(own >= 256 && own < 300, "\(own)")
        for number in 0..<20 {
            let count = kept.count { $0.plugin == "p\(number)" }
            #expect((20...60).contains(count), "p\(number): \(count)")
        }
    }

    @Test func `A task that floods drops no lines of the plugin's other tasks`() {
        var ring = LogRing(linesMax: 1024, bytesMax: 1 << 20)
        for sequence in 1...20 { ring.append(line(UInt64(sequence), plugin: "p", task: "quiet")) }
        for sequence in 21...20_000 {
            ring.append(line(UInt64(sequence), plugin: "p", task: "loud"))
        }
        #expect(all(ring, LogFilter(task: "quiet")).count == 20)
        #expect(ring.gaps.map(\.task) == ["loud"])
    }

    @Test func `Lines of the daemon about one plugin drop no others of its lines`() {
        var ring = LogRing(linesMax: 1024, bytesMax: 1 << 20)
        ring.append(line(1, .host, "control.verb"))
        for sequence in 2...20_000 { ring.append(line(UInt64(sequence), .host, plugin: "busy")) }
        #expect(all(ring).first?.message == "control.verb")
        #expect(
            ring.gaps.first?.message.hasSuffix("of the daemon about plugin busy were dropped here")
                == true
        )
    }

    /// A plugin that invents tasks or a manifest of thousands of plugins gets no more than its share.
    @Test func `Many names stay within the bounds`() {
        var ring = LogRing(linesMax: 1024, bytesMax: 1 << 20)
        ring.append(line(1, plugin: "quiet"))
        for sequence in 2...50_000 {
            ring.append(
                line(UInt64(sequence), plugin: "p\(sequence % 3)", task: "family.\(sequence)")
            )
        }
        let kept = all(ring)
        #expect(kept.count == 1024 && kept.first?.plugin == "quiet")
        for sequence in 50_001...60_000 {
            ring.append(line(UInt64(sequence), plugin: "q\(sequence)"))
        }
        #expect(all(ring).count == 1024)
    }

    @Test func `Long lines count with their bytes`() {
        var ring = LogRing(linesMax: 1024, bytesMax: 1 << 20)
        let long = String(repeating: "x", count: 100_000)
        for sequence in 1...1000 {
            ring.append(line(UInt64(sequence), plugin: "loud", long))
            #expect(all(ring).reduce(0) { $0 + $1.message.utf8.count } <= 1 << 20)
        }
    }

    @Test func `Pieces of a search have the same lines as the whole`() {
        var ring = LogRing(linesMax: 200, bytesMax: 1 << 20)
        for sequence in 1...1000 {
            ring.append(line(UInt64(sequence), plugin: sequence % 7 == 0 ? "a" : "b"))
        }
        var found: [LogEntry] = []
        var next: UInt64? = .max
        while let before = next {
            let piece = ring.entries(
                before: before,
                matching: LogFilter(plugin: "a"),
                limit: .max,
                looksMax: 16
            )
            found += piece.found
            next = piece.next
        }
        #expect(found.reversed() == all(ring, LogFilter(plugin: "a")) && found.count > 50)
    }
}
