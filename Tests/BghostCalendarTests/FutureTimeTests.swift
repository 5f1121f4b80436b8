// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostCalendar
import Testing

/// Times to come, as operators write them.
@Suite struct FutureTimeTests {
    private func parse(_ text: String, now: String, in zone: ZoneTable) throws -> String? {
        let now = try #require(Timestamp.unixNanoseconds(now))
        return FutureTime.parse(text, now: now, in: zone)
            .map { Timestamp.text(unixNanoseconds: $0) }
    }

    @Test(
        arguments: [
            ("2026-11-21T03:00:00Z", "2026-11-21T03:00:00.000Z"),
            ("2026-11-21T03:00:00+02:00", "2026-11-21T01:00:00.000Z"),
            ("2026-11-21", "2026-11-20T23:00:00.000Z"),
            ("2026-11-21 03:00", "2026-11-21T02:00:00.000Z"),
            ("2026-11-21T03:00:30", "2026-11-21T02:00:30.000Z"),
            // The next one: now is 13:00 in Berlin.
            ("13:01", "2026-11-20T12:01:00.000Z"), ("13:00", "2026-11-21T12:00:00.000Z"),
            ("00:00", "2026-11-20T23:00:00.000Z"),
            // One that is over.
            ("2001-01-01", "2000-12-31T23:00:00.000Z"),
            ("2h", nil), ("soon", nil), ("", nil), ("25:00", nil), ("3:00", nil),
            ("2026-02-30", nil),
        ] as [(String, String?)]
    )
    func `A time of the zone is the next one`(text: String, time: String?) throws {
        let zone = try ZoneFixture.berlin()
        #expect(try parse(text, now: "2026-11-20T12:00:00Z", in: zone) == time)
    }

    @Test func `A time that the clock skips or shows twice has one instant`() throws {
        let zone = try ZoneFixture.berlin()
        // Put forward from 02:00 to 03:00 on this day.
        #expect(
            try parse("2026-03-29 02:30", now: "2026-03-28T12:00:00Z", in: zone)
                == "2026-03-29T01:00:00.000Z"
        )
        // Put back from 03:00 to 02:00: the first of the two.
        #expect(
            try parse("02:30", now: "2026-10-24T12:00:00Z", in: zone) == "2026-10-25T00:30:00.000Z"
        )
    }
}
