// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostTestSupport
import Testing

/// The cursors of pages, which clients return and may change.
@Suite struct PageCursorTests {
    private static let cursors: [PageCursor] = [
        .pending(generation: 0, place: 0, id: RunID(high: 0, low: 0)),
        .pending(generation: .max, place: .min, id: RunID(high: .max, low: .max)),
        .pending(generation: 0x0123_4567_89AB_CDEF, place: -7, id: RunID(high: 5, low: 6)),
        .dead(diedAt: .max, run: RunID(high: 1, low: 2)),
        .dead(diedAt: .min, run: RunID(high: .max, low: 0)),
        .starts(due: 0, number: 0),
        .starts(due: -1, number: .max),
        .days(day: -3, number: 9),
        .checkpoints(request: RunID(high: .max, low: 0)),
        .checkpoints(request: RunID(high: 0, low: .max)),
        .transfers(id: RunID(high: .max, low: 0)),
        .transfers(id: RunID(high: 3, low: 4)),
    ]

    @Test(arguments: cursors)
    func `A cursor is read as it was written`(_ cursor: PageCursor) {
        let text = cursor.text
        #expect(PageCursor(text) == cursor)
        #expect(text.utf8.count <= PageCursor.bytesMax)
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        #expect(text.allSatisfy(allowed.contains), "a query would have to encode \(text)")
    }

    @Test func `A cursor with one other character is refused`() {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= %é")
        for cursor in Self.cursors {
            let text = Array(cursor.text)
            for place in text.indices {
                for digit in digits where digit != text[place] {
                    var other = text
                    other[place] = digit
                    #expect(PageCursor(String(other)) == nil, "\(String(other))")
                }
            }
        }
    }

    @Test func `A cut, longer or exchanged cursor is refused`() {
        for cursor in Self.cursors {
            let text = cursor.text
            for length in 0..<text.count {
                #expect(PageCursor(String(text.prefix(length))) == nil)
                #expect(PageCursor(String(text.suffix(length))) == nil)
            }
            for tail in ["A", "AA", "AAAA", "=", " ", "\n", "\0", text] {
                #expect(PageCursor(text + tail) == nil)
                #expect(PageCursor(tail + text) == nil)
            }
        }
        #expect(PageCursor(String(repeating: "A", count: 1 << 20)) == nil)
    }

    @Test func `No text but that of a cursor is read`() {
        var source = SplitMix64(seed: 7)
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        for _ in 0..<20_000 {
            let length = Int(source.next() % 60)
            let bytes = (0..<length).map { _ in digits[Int(source.next() % 64)] }
            let text = String(decoding: bytes, as: UTF8.self)
            if let cursor = PageCursor(text) { #expect(cursor.text == text) }
        }
    }

    @Test func `A filter selects a task, or what begins alike`() {
        #expect(TaskFilter("a.b") == .task("a.b") && TaskFilter("a.*") == .beginning("a."))
        #expect(TaskFilter("*") == .beginning(""))
        for text in ["a", "a.*", "*", ""] { #expect(TaskFilter(text).text == text) }
        #expect(TaskFilter("a.*").matches("a.b") && !TaskFilter("a.*").matches("ab"))
        #expect(TaskFilter("*").matches("") && !TaskFilter("a").matches("ab"))
        #expect(TaskFilter("a.*").task == nil && TaskFilter("a").task == "a")
    }
}
