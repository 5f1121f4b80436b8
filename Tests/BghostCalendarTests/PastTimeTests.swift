// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostCalendar
import BghostTestSupport
import Testing

/// Times as operators write them.
@Suite struct PastTimeTests {
    private func parse(_ text: String, now: String) throws -> String? {
        let now = try #require(Timestamp.unixNanoseconds(now))
        return PastTime.parse(text, now: now, in: try ZoneFixture.berlin())
            .map { Timestamp.text(unixNanoseconds: $0) }
    }

    @Test(arguments: [
        ("2026-11-21T03:00:00Z", "2026-11-21T03:00:00.000Z"),
        ("2026-11-21T03:00:00.25+01:00", "2026-11-21T02:00:00.250Z"),
        ("2026-11-21 03:00", "2026-11-21T02:00:00.000Z"),
        ("2026-11-21T03:00:07", "2026-11-21T02:00:07.000Z"),
        ("2026-07-21 03:00", "2026-07-21T01:00:00.000Z"),
        ("2026-11-20", "2026-11-19T23:00:00.000Z"),
        ("03:00", "2026-11-21T02:00:00.000Z"),
        ("13:00", "2026-11-20T12:00:00.000Z"),
        ("12:30:00", "2026-11-21T11:30:00.000Z"),
        ("12:30:01", "2026-11-20T11:30:01.000Z"),
        ("2h", "2026-11-21T09:30:00.000Z"),
        ("90s", "2026-11-21T11:28:30.000Z"),
        ("15m", "2026-11-21T11:15:00.000Z"),
        ("3d", "2026-11-18T11:30:00.000Z"),
        ("1w", "2026-11-14T11:30:00.000Z"),
    ])
    func `Reads the forms`(text: String, wanted: String) throws {
        #expect(try parse(text, now: "2026-11-21T11:30:00Z") == wanted)
    }

    @Test(arguments: [
        "", "x", "soon", "3", "h", "-2h", "2 h", "1.5h", "24:00", "3:00", "03:60", "03:00:00:00",
        "2026-02-30", "2026-13-01", "2026-11-21 ", "2026-11-21 25:00", "26-11-21", "99999999999h",
        "２h", "2026-11-21T03:00:00X", "+03:00", "03:0a",
    ])
    func `Other texts are refused`(text: String) throws {
        #expect(try parse(text, now: "2026-11-21T11:30:00Z") == nil)
    }

    @Test func `Times that the clock skips or shows twice have one answer`() throws {
        #expect(try parse("02:30", now: "2026-03-29T10:00:00Z") == "2026-03-29T01:00:00.000Z")
        // 02:30 came at 00:30 and at 01:30 UTC.
        #expect(try parse("02:30", now: "2026-10-25T10:00:00Z") == "2026-10-25T01:30:00.000Z")
        #expect(try parse("02:30", now: "2026-10-25T01:00:00Z") == "2026-10-25T00:30:00.000Z")
    }
}
