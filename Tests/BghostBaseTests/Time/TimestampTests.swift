// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Testing

@Suite struct TimestampTests {
    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00.000Z"),
        (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z"),
        (4_107_542_399_999_000_000, "2100-02-28T23:59:59.999Z"),
        (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000Z"),
        (1_795_278_664_250_999_999, "2026-11-21T16:31:04.250Z"),
        (-1_000_000, "1969-12-31T23:59:59.999Z"),
        (Int64.max, "2262-04-11T23:47:16.854Z"),
        (Int64.min, "1677-09-21T00:12:43.145Z"),
    ])
    func `A timestamp is written in UTC`(time: Int64, text: String) {
        #expect(Timestamp.text(unixNanoseconds: time) == text)
    }

    @Test(arguments: [
        ("2026-11-21T16:31:04Z", Int64(1_795_278_664_000_000_000)),
        ("2026-11-21t16:31:04z", 1_795_278_664_000_000_000),
        ("2026-11-21 17:31:04+01:00", 1_795_278_664_000_000_000),
        ("2026-11-21T11:01:04-05:30", 1_795_278_664_000_000_000),
        ("2026-11-21T16:31:04.5Z", 1_795_278_664_500_000_000),
        ("2026-11-21T16:31:04.123456789Z", 1_795_278_664_123_456_789),
        ("2026-11-21T16:31:04.1234567899Z", 1_795_278_664_123_456_789),
        ("2262-04-11T23:47:16.854775807Z", Int64.max),
        ("1677-09-21T00:12:44Z", -9_223_372_036_000_000_000),
    ])
    func `A timestamp is read`(text: String, time: Int64) {
        #expect(Timestamp.unixNanoseconds(text) == time)
    }

    @Test(arguments: [
        "", "2026", "2026-11-21", "2026-11-21T16:31:04", "2026-11-21T16:31Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z", "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z",
        "2026-11-00T00:00:00Z", "2026-04-31T00:00:00Z", "2026-11-21T24:00:00Z",
        "2026-11-21T16:60:00Z", "2026-11-21T16:31:60Z", "2026-11-21T16:31:04.Z",
        "2026-11-21T16:31:04+1:00", "2026-11-21T16:31:04+24:00", "2026-11-21T16:31:04ZZ",
        "+2026-11-21T16:31:04Z", "2026-11-21T16:31:04 Z", "２026-11-21T16:31:04Z",
        "2262-04-11T23:47:17Z", "9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z",
    ])
    func `Texts that are no timestamp are refused`(text: String) {
        #expect(Timestamp.unixNanoseconds(text) == nil)
    }

    @Test(arguments: SeededGenerator.seeds(4))
    func `Reads what it wrote`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let time = Int64.random(in: -9_223_372_036_000_000_000 ... .max, using: &random)
            let text = Timestamp.text(unixNanoseconds: time)
            guard let read = Timestamp.unixNanoseconds(text) else {
                Issue.record("\(text) cannot be read")
                return
            }
            // The text has milliseconds, cut off downwards.
            #expect((0..<1_000_000).contains(time - read), "\(time) became \(text)")
        }
    }
}
