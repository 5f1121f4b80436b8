// SPDX-License-Identifier: Apache-2.0

import BghostTraces
import Testing

@Suite struct ExportAnswerTests {
    private func answer(
        _ status: Int,
        _ headers: [(String, String)] = [],
        _ body: String = ""
    ) -> ExportAnswer {
        ExportAnswer(
            status: status,
            headers: headers,
            body: Array(body.utf8),
            unixNow: 784_111_777_000_000_000
        )
    }

    @Test(arguments: [429, 502, 503, 504])
    func `a batch is sent again after the statuses that the specification names`(status: Int) {
        #expect(answer(status) == .later(after: nil, reason: "it answered \(status)"))
        let asked = answer(status, [("retry-after", "7")])
        #expect(asked == .later(after: 7_000_000_000, reason: "it answered \(status)"))
    }

    @Test(arguments: [400, 401, 404, 413, 500, 501, 301])
    func `a batch is dropped after any other status`(status: Int) {
        #expect(answer(status, [("retry-after", "7")]) == .refused("it answered \(status)"))
    }

    @Test func `Retry-After may be a date`() {
        let date = [("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT")]
        #expect(answer(503, date) == .later(after: 10_000_000_000, reason: "it answered 503"))
        let past = [("retry-after", "Sun, 06 Nov 1994 08:49:07 GMT")]
        #expect(answer(503, past) == .later(after: 0, reason: "it answered 503"))
        for text in ["", "-1", "soon", "99999999999999999999"] {
            #expect(
                answer(503, [("retry-after", text)])
                    == .later(after: nil, reason: "it answered 503")
            )
        }
    }

    @Test func `a receiver may reject some spans`() {
        let body = #"{"partialSuccess": {"rejectedSpans": "2", "errorMessage": "too\nold"}}"#
        #expect(answer(200, [], body) == .taken(rejected: 2, message: #"too\nold"#))
        let number = #"{"partialSuccess": {"rejectedSpans": 3}}"#
        #expect(answer(200, [], number) == .taken(rejected: 3, message: ""))
        for text in ["", "{}", "no JSON", #"{"partialSuccess": {}}"#, #"{"partialSuccess": null}"#]
        {
            #expect(answer(202, [], text) == .taken(rejected: 0, message: ""), "\(text)")
        }
    }
}

@Suite struct ExportBackoffTests {
    private static let second: UInt64 = 1_000_000_000

    private func delay(_ failures: Int, elapsed: UInt64 = 0, asked: UInt64? = nil) -> UInt64? {
        ExportBackoff().delay(after: failures, elapsed: elapsed, asked: asked) { $0 - 1 }
    }

    @Test func `delays double up to half a minute`() {
        let seconds = [1, 2, 3, 4, 5, 6, 7, 1000].map { delay($0).map { $0 / Self.second } }
        #expect(seconds == [1, 2, 4, 8, 16, 30, 30, 30])
    }

    @Test func `half of a delay is random`() {
        let least = ExportBackoff().delay(after: 3, elapsed: 0, asked: nil) { _ in 0 }
        #expect(least == 2 * Self.second)
    }

    @Test func `what the receiver asks for is the least`() {
        #expect(delay(1, asked: 40 * Self.second) == 40 * Self.second)
        #expect(delay(6, asked: Self.second) == 30 * Self.second)
    }

    @Test func `a batch is dropped when its time is over`() {
        #expect(delay(1, elapsed: 119 * Self.second) == Self.second)
        #expect(delay(1, elapsed: 120 * Self.second) == nil)
        #expect(delay(1, asked: 121 * Self.second) == nil)
        #expect(delay(1, elapsed: .max) == nil)
    }
}
