// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostModel
import Testing

/// Windows in which no alert is sent.
@Suite struct MuteCalendarTests {
    private static let second: Int64 = 1_000_000_000

    private func end(_ windows: [String], _ time: String, _ zone: ZoneTable = .utc) throws
        -> String?
    {
        var calendar = MuteCalendar()
        for window in windows {
            let other = calendar.add(try MuteWindow(window))
            #expect(other == nil)
        }
        let now = try #require(Timestamp.unixNanoseconds(time))
        return calendar.end(at: now, in: zone).map {
            let text = Timestamp.text(unixNanoseconds: $0)
            #expect(text.hasSuffix(".000Z"))
            return text.dropLast(5) + "Z"
        }
    }

    @Test(arguments: [
        // 2026-11-28 is a Saturday.
        (["sat 02:00-04:00"], "2026-11-28T02:00:00Z", "2026-11-28T04:00:00Z"),
        (["sat 02:00-04:00"], "2026-11-28T03:59:59Z", "2026-11-28T04:00:00Z"),
        (["sat 02:00-04:00"], "2026-11-28T04:00:00Z", ""),
        (["sat 02:00-04:00"], "2026-11-27T03:00:00Z", ""),
        (["02:00-04:00"], "2026-11-27T03:00:00Z", "2026-11-27T04:00:00Z"),
        // It ends on Sunday.
        (["fri,sat 22:00-06:00"], "2026-11-29T05:00:00Z", "2026-11-29T06:00:00Z"),
        (["fri,sat 22:00-06:00"], "2026-11-30T05:00:00Z", ""),
        (["mon-fri 00:00-24:00"], "2026-11-27T12:00:00Z", "2026-11-28T00:00:00Z"),
        (["sat-mon 01:00-02:00"], "2026-11-30T01:30:00Z", "2026-11-30T02:00:00Z"),
        (["sun 23:00-01:00"], "2026-11-30T00:30:00Z", "2026-11-30T01:00:00Z"),
    ])
    func `A window holds on its days, also over midnight`(
        windows: [String],
        time: String,
        expected: String
    ) throws {
        #expect(try end(windows, time) ?? "" == expected)
    }

    @Test func `Windows are in the zone of the host`() throws {
        let zone = ZoneTable(name: "x", fixedOffset: 3600)
        #expect(
            try end(["sat 02:00-04:00"], "2026-11-28T01:30:00Z", zone) == "2026-11-28T03:00:00Z"
        )
        #expect(try end(["sat 02:00-04:00"], "2026-11-28T03:30:00Z", zone) == nil)
    }

    @Test(arguments: [
        "", "sat", "sat 2:00-04:00", "sat 02:00", "saturday 02:00-04:00", "sat 02:00-02:00",
        "sat 24:00-02:00", "sat 02:60-04:00", "sat  02:00-04:00", "sat 02:00-04:00 x",
        "sat-mon-fri 1",
        "mon,, 02:00-04:00", "25:00-26:00", "02:00-24:01", "mon-fri-sun 01:00-02:00",
    ])
    func `What is no window is refused with a reason`(text: String) {
        #expect(throws: MuteWindow.Fault.self) { _ = try MuteWindow(text) }
    }

    @Test(arguments: [
        ("sat 02:00-04:00", "sat 03:00-05:00", true), ("sat 02:00-04:00", "sat 04:00-05:00", false),
        ("fri 22:00-06:00", "sat 05:00-07:00", true), ("sun 22:00-06:00", "mon 05:00-07:00", true),
        ("02:00-04:00", "wed 03:59-05:00", true), ("mon 01:00-02:00", "tue 01:00-02:00", false),
        ("mon 00:00-24:00", "tue 00:00-24:00", false), ("sat 03:00-03:30", "sat 02:00-04:00", true),
    ])
    func `Windows that overlap are found`(one: String, other: String, overlap: Bool) throws {
        var calendar = MuteCalendar()
        _ = calendar.add(try MuteWindow(one))
        let found = calendar.add(try MuteWindow(other))
        #expect((found != nil) == overlap)
    }
}
