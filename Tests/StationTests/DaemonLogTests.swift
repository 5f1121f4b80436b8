// SPDX-License-Identifier: Apache-2.0

import StormyStation
import Synchronization
import Testing

@Suite struct DaemonLogTests {
    /// Keeps lines in the order in which they were written.
    final class Lines: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        func append(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private func log(colour: Bool = false) -> (DaemonLog, Lines) {
        let lines = Lines()
        let style = TerminalStyle(unicode: true, colour: colour)
        return (DaemonLog(style: style, write: lines.append), lines)
    }

    @Test func `Shows whole lines with a prefix`() {
        let (log, lines) = log()
        log.feed(Array("one\ntw".utf8))
        #expect(lines.all == ["  bghost | one"])
        log.feed(Array("o\n\nthr".utf8))
        log.finish()
        log.finish()
        #expect(lines.all == ["  bghost | one", "  bghost | two", "  bghost | ", "  bghost | thr"])
        #expect(log.tail == ["one", "two", "", "thr"])
    }

    @Test func `Remembers the end only`() {
        let (log, lines) = log()
        for number in 1...50 { log.feed(Array("\(number)\n".utf8)) }
        #expect(log.tail == (31...50).map(String.init))
        #expect(lines.all.count == 50)
    }

    @Test func `Bounds a line`() {
        let (log, lines) = log()
        log.feed([UInt8](repeating: UInt8(ascii: "x"), count: 5000) + [UInt8(ascii: "\n")])
        #expect(lines.all.first?.hasSuffix("xxx [904 bytes more]") == true)
        log.feed(Array("next\n".utf8))
        #expect(lines.all.last == "  bghost | next")
    }

    @Test func `Passes on neither control characters nor broken text`() {
        let (log, lines) = log()
        log.feed(Array("\u{1B}[2Jü".utf8) + [0xFF, 0x0A])
        #expect(lines.all == ["  bghost | ?[2Jü\u{FFFD}"])
    }

    @Test func `Dims where there is colour`() {
        let (log, lines) = log(colour: true)
        log.feed(Array("x\n".utf8))
        #expect(lines.all == ["\u{1B}[2m  bghost | x\u{1B}[0m"])
    }
}
