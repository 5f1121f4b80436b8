// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostDispatch
import BghostModel
import BghostServices
import Testing

/// Lines of the daemon's memory and of the log's files in one answer.
@Suite(.timeLimit(.minutes(5))) struct LogMergeTests {
    private func entry(_ sequence: UInt64) -> LogEntry {
        LogEntry(
            sequence: sequence,
            time: Int64(sequence),
            level: .info,
            source: .host,
            event: "",
            message: ""
        )
    }

    /// Files: lines of earlier daemons have no place in memory.
    private func search(
        _ file: [(sequence: UInt64, isOwn: Bool)],
        _ search: (before: UInt64?, below: UInt64, limit: Int)
    ) -> LogFindings {
        var findings = LogFindings()
        // The offset of a line is its index.
        for (index, line) in file.enumerated().reversed()
        where search.before.map({ UInt64(index) < $0 }) ?? true {
            guard findings.lines.count < search.limit else {
                findings.next = findings.lines.last?.place
                findings.hasOwnNext = findings.lines.last?.isOwn ?? true
                break
            }
            if line.isOwn, line.sequence >= search.below { continue }
            findings.lines.append(
                .init(
                    entry(line.sequence),
                    at: LogCursor(file: 1, offset: UInt64(index)),
                    isOwn: line.isOwn
                )
            )
        }
        return findings
    }

    @Test(arguments: 1...20, [1, 2, 3, 5, 100])
    func `Pages have each line once, the newest first`(seed: UInt64, limit: Int) {
        var random = LCG(state: seed)
        let old = (1...5).map { (sequence: UInt64($0), isOwn: false) }
        // Of the lines of this daemon, memory has the newest and some older ones, and the file has lost some.
        let complete: UInt64 = 30
        let memory = (1...40 as ClosedRange<UInt64>).filter {
            $0 >= complete || random.next() % 3 == 0
        }
        let rotated = random.next() % 10
        let file =
            old
            + (1...40 as ClosedRange<UInt64>).filter { $0 > rotated }.map {
                (sequence: $0, isOwn: true)
            }
        var position = LogPosition(sequence: complete)
        var shown: [LogEntry] = []
        for _ in 0..<200 {
            let rare = memory.filter { $0 < position.sequence && $0 < complete }.map(entry)
            let below = min(position.sequence, complete)
            let findings = search(file, (position.cursor?.offset, below, limit))
            let page = LogCommands.merged(
                Array(rare.suffix(limit)),
                findings,
                below: below,
                from: position,
                limit: limit
            )
            #expect(page.entries.count <= limit)
            shown = page.entries + shown
            guard let next = page.next else { break }
            position = next
        }
        let own = (1..<complete).filter { $0 > rotated || memory.contains($0) }
        #expect(shown.map(\.sequence) == [1, 2, 3, 4, 5] + own)
    }

    private struct LCG {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
    }

    @Test func `A place is read as it was written`() {
        for position in [
            LogPosition(sequence: 0), LogPosition(sequence: .max),
            LogPosition(sequence: 3, cursor: LogCursor(file: .max, offset: 40_960)),
        ] {
            #expect(LogPosition(position.description) == position)
        }
        for text in [
            "", "-", "m1", "1-", "1-2", "1-2-", "1-2-3-4", "1-2--3", "-1",
            "1-2-18446744073709551615",
        ] {
            #expect(LogPosition(text) == nil, "\(text)")
        }
    }
}
