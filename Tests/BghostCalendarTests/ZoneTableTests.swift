// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostCalendar
import BghostTestSupport
import Testing

@Suite(.ownThreads) struct ZoneTableTests {
    // MARK: - What it says

    @Test(arguments: [
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T00:59:59Z", Int64(3600)),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T01:00:00Z", 7200),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T00:59:59Z", 7200),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T01:00:00Z", 3600),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2262-01-01T00:00:00Z", 3600),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "1677-10-01T00:00:00Z", 7200),
        ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-01-01T00:00:00Z", 39_600),
        ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-07-01T00:00:00Z", 36_000),
        // At -1 o'clock on a Sunday, which is 23 o'clock on the day before.
        ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T00:59:59Z", -7200),
        ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00Z", -3600),
        // At 50 o’clock on the fourth Thursday, which is 2 o’clock on Saturday.
        ("EET-2EEST,M3.4.4/50,M10.4.4/50", "2026-03-27T23:59:59Z", 7200),
        ("EET-2EEST,M3.4.4/50,M10.4.4/50", "2026-03-28T00:00:00Z", 10_800),
        // Winter time as the exception.
        ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-07-01T00:00:00Z", 3600),
        ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-01-01T00:00:00Z", 0),
        // Day 60 without 29 February is 1 March in all years; from 0 with it, 59 is 29 February.
        ("A1A", "", .min), ("AAA3BBB,J60/0,J300", "2024-03-01T03:00:00Z", -7200),
        ("AAA3BBB,J60/0,J300", "2024-03-01T02:59:59Z", -10_800),
        ("AAA3BBB,59/0,J300", "2024-02-29T03:00:00Z", -7200),
        ("AAA3BBB,59/0,J300", "2023-03-01T02:59:59Z", -10_800),
        // Daylight saving time all the year.
        ("EST5EDT,0/0,J365/25", "2026-01-01T05:00:00Z", -14_400),
        ("EST5EDT,0/0,J365/25", "2026-07-01T00:00:00Z", -14_400),
        ("<+0545>-5:45", "2026-07-01T00:00:00Z", 20_700),
        ("<-00:00>0", "", .min), ("LMT-0:53:28", "2026-07-01T00:00:00Z", 3208),
    ])
    func `A zone follows its rules after its table`(rule: String, time: String, offset: Int64)
        throws
    {
        guard !time.isEmpty else {
            #expect(throws: ZoneError.badRule(rule)) {
                try ZoneTable(name: "Test", tzif: ZoneFixture(rule: rule).bytes)
            }
            return
        }
        let zone = try ZoneTable(name: "Test", tzif: ZoneFixture(rule: rule).bytes)
        #expect(zone.offset(at: try seconds(time)) == offset)
    }

    @Test func `Keeps the table until its end`() throws {
        let summer = try seconds("2020-06-01T00:00:00Z")
        let zone = try ZoneTable(
            name: "Test",
            tzif: ZoneFixture(
                changes: [(-1_000_000_000, 1), (summer, 2)],
                offsets: [100, 3600, 7200],
                rule: "CET-1CEST,M3.5.0,M10.5.0/3"
            ).bytes
        )
        #expect(zone.offset(at: Int64.min) == 100)
        #expect(zone.offset(at: -1_000_000_001) == 100)
        #expect(zone.offset(at: -1_000_000_000) == 3600)
        // The rule would have summer time in July 2019, too.
        #expect(zone.offset(at: try seconds("2019-07-01T00:00:00Z")) == 3600)
        #expect(zone.offset(at: summer) == 7200)
        #expect(zone.offset(at: try seconds("2020-12-01T00:00:00Z")) == 3600)
        // In April 2262.
        #expect(zone.offset(at: Int64.max) == 7200)
        let change = try #require(zone.nextChange(after: summer))
        #expect(change.at == (try seconds("2020-10-25T01:00:00Z")))
        #expect(change.offsetBefore == 7200 && change.offsetAfter == 3600)
        #expect(zone.nextChange(after: Int64.min)?.at == -1_000_000_000)
        #expect(zone.nextChange(after: Int64.max) == nil)
    }

    @Test func `Reads files of version 1`() throws {
        let bytes = ZoneFixture(changes: [(1000, 1)], offsets: [0, 3600], version: 0).bytes
        let zone = try ZoneTable(name: "Test", tzif: bytes)
        #expect(zone.offset(at: 999) == 0)
        #expect(zone.offset(at: Int64.max) == 3600)
    }

    @Test(arguments: [
        ("2026-06-01T12:00:00Z", ["2026-06-01T10:00:00Z"], Int64(0)),
        ("2026-03-29T01:59:59Z", ["2026-03-29T00:59:59Z"], 0),
        ("2026-03-29T02:00:00Z", ["2026-03-29T01:00:00Z"], 3600),
        ("2026-03-29T02:59:59Z", ["2026-03-29T01:00:00Z"], 3600),
        ("2026-03-29T03:00:00Z", ["2026-03-29T01:00:00Z"], 0),
        ("2026-10-25T01:59:59Z", ["2026-10-24T23:59:59Z"], 0),
        ("2026-10-25T02:00:00Z", ["2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"], 0),
        ("2026-10-25T02:59:59Z", ["2026-10-25T00:59:59Z", "2026-10-25T01:59:59Z"], 0),
        ("2026-10-25T03:00:00Z", ["2026-10-25T02:00:00Z"], 0),
    ])
    func `Finds instants of local times`(local: String, expected: [String], gap: Int64) throws {
        let instants = try expected.map(seconds)
        let match =
            gap > 0
            ? ZoneTable.LocalMatch.skipped(at: instants[0], gap: gap)
            : instants.count == 2 ? .twice(instants[0], instants[1]) : .once(instants[0])
        #expect(try ZoneFixture.berlin().match(local: seconds(local)) == match)
    }

    @Test(arguments: [Int64.min, -9_223_372_037, 9_223_372_037, Int64.max])
    func `Has no local times beyond the range`(local: Int64) throws {
        #expect(try ZoneFixture.berlin().match(local: local) == nil)
        // The first and last offsets hold on: those of September and April.
        #expect(try ZoneFixture.berlin().offset(at: local) == 7200)
    }

    // MARK: - Hostile bytes

    @Test func `Refuses invalid zones`() throws {
        let good = ZoneFixture(rule: "UTC0").bytes
        expect(.notAZone, [])
        expect(.notAZone, Array("PNG".utf8))
        expect(.cutOff, Array(good.prefix(20)))
        expect(.cutOff, Array(good.dropLast()))
        expect(.tooLarge(bytes: 65_537), [UInt8](repeating: 0, count: 65_537))
        expect(.leapSeconds, ZoneFixture(leapSeconds: 1).bytes)
        let twice = ZoneFixture(changes: [(5, 0), (5, 0)]).bytes
        expect(.malformed("its changes are not in order"), twice)
        expect(.malformed("a change leads to no type"), ZoneFixture(changes: [(5, 9)]).bytes)
        expect(.malformed("an offset from UTC of 93601 s"), ZoneFixture(offsets: [93_601]).bytes)
        expect(.malformed("it has no or too many types"), ZoneFixture(offsets: []).bytes)
    }

    @Test(arguments: [
        "UT0", "UTC", "UTC25", "UTC0:60", "<UTC0", "<U>0", "CET-1CEST", "CET-1CEST,M3.5.0",
        "CET-1CEST,M0.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.0.0,M10.5.0",
        "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,M3.5.0,M10.5.0/168", "CET-1CEST,J0,J1",
        "CET-1CEST,J366,J1", "CET-1CEST,366,1", "CET-1CEST,M3.5.0,M10.5.0x",
        "CET-1CEST,M3.5.0/,M10.5.0", "CET-1CEST,M9999.5.0,M10.5.0", ":Europe/Berlin", "UTC-",
        "\u{0}",
    ])
    func `Refuses bad rules`(rule: String) {
        expect(.badRule(rule), ZoneFixture(rule: rule).bytes)
    }

    /// A file in which bytes were changed or cut off is refused, or it is a zone like any other.
    @Test(arguments: SeededGenerator.seeds(8))
    func `Damaged zone files are errors`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let changes = (0..<20).map { (Int64($0) * 15_000_000 + 1_500_000_000, UInt8($0 % 3)) }
        let good = ZoneFixture(
            changes: changes,
            offsets: [0, 3600, -7200],
            rule: "CET-1CEST,M3.5.0,M10.5.0/3"
        ).bytes
        let expression = try CalendarExpression("30 2 * * *")
        for _ in 0..<60 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] = UInt8.random(in: 0...255, using: &generator)
            }
            if Bool.random(using: &generator) {
                bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator))
            }
            guard let zone = try? ZoneTable(name: "Test", tzif: bytes) else { continue }
            let recurrence = try Recurrence.calendar(expression, zone: zone, fold: .both)
            var at = Int64.random(in: Int64.min...Int64.max, using: &generator)
            for _ in 0..<20 {
                guard let time = recurrence.next(after: at) else { break }
                #expect(time > at)
                #expect(recurrence.latest(atOrBefore: time) == time)
                at = time
            }
            _ = zone.match(local: at / 1_000_000_000)
        }
    }

    private func expect(_ error: ZoneError, _ bytes: [UInt8]) {
        #expect(throws: error) { try ZoneTable(name: "Test", tzif: bytes) }
        #expect(!error.description.isEmpty)
    }
}

/// Unix seconds of a time with its offset.
func seconds(_ text: String) throws -> Int64 {
    try #require(Timestamp.unixNanoseconds(text)) / 1_000_000_000
}
