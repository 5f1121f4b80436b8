// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTraces
import Testing

@Suite struct SpanQueueTests {
    @Test func `a full queue drops the oldest span`() {
        var queue = SpanQueue(capacity: 3)
        let dropped = (1...5).map { queue.append(.sample(named: "\($0)")) }
        #expect(dropped == [false, false, false, true, true])
        #expect(queue.count == 3)
        let first = queue.take(2)
        #expect(first.map(\.name) == ["3", "4"])
        let hasDropped = queue.append(.sample(named: "6"))
        #expect(!hasDropped)
        let rest = queue.take(.max)
        #expect(rest.map(\.name) == ["5", "6"] && queue.count == 0)
        let none = queue.take(1)
        #expect(none.isEmpty)
    }

    @Test func `A span costs one place of the queue, however many wait`() {
        var queue = SpanQueue(capacity: 100_000)
        for _ in 0..<150_000 { _ = queue.append(.sample(named: "a")) }
        #expect(queue.placesVisited == 150_000 && queue.count == 100_000)
        let taken = queue.take(512)
        #expect(taken.count == 512 && queue.placesVisited == 150_512)
    }
}

extension Span {
    static func sample(named name: String, error: String? = nil) -> Span {
        Span(
            name,
            .consumer,
            TraceContext(
                traceHigh: 0x0af7_6519_16cd_43dd,
                traceLow: 0x8448_eb21_1c80_319c,
                span: 7,
                flags: 1
            ),
            parent: 9,
            start: 1_790_000_000_000_000_001,
            end: 1_790_000_000_000_000_002,
            attributes: [
                Attribute("bghost.task", .text("a \"b\"\n")), Attribute("n", .number(-3)),
                Attribute("f", .flag(true)),
            ],
            error: error
        )
    }
}
