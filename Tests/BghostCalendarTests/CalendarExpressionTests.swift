// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostCalendar
import BghostTestSupport
import Testing

@Suite(.ownThreads) struct CalendarExpressionTests {
    /// The first local times after 2026-11-21T16:31:04, a Saturday.
    @Test(arguments: [
        ("* * * * *", ["2026-11-21T16:32:00", "2026-11-21T16:33:00"]),
        ("* * * * * *", ["2026-11-21T16:31:05", "2026-11-21T16:31:06"]),
        ("*/20 * * * * *", ["2026-11-21T16:31:20", "2026-11-21T16:31:40", "2026-11-21T16:32:00"]),
        ("0 12 * * *", ["2026-11-22T12:00:00", "2026-11-23T12:00:00"]),
        ("\t 0   12 * * * ", ["2026-11-22T12:00:00", "2026-11-23T12:00:00"]),
        ("30 8 * * mon-fri", ["2026-11-23T08:30:00", "2026-11-24T08:30:00"]),
        ("30 8 * * SAT-SUN", ["2026-11-22T08:30:00", "2026-11-28T08:30:00"]),
        ("0 0 * * 7", ["2026-11-22T00:00:00", "2026-11-29T00:00:00"]),
        ("0 0 * * 5-7", ["2026-11-22T00:00:00", "2026-11-27T00:00:00"]),
        ("0 0 1,15 * *", ["2026-12-01T00:00:00", "2026-12-15T00:00:00", "2027-01-01T00:00:00"]),
        ("0 0 L * *", ["2026-11-30T00:00:00", "2026-12-31T00:00:00", "2027-01-31T00:00:00"]),
        ("0 0 l feb ?", ["2027-02-28T00:00:00", "2028-02-29T00:00:00"]),
        ("0 0 29 2 *", ["2028-02-29T00:00:00", "2032-02-29T00:00:00"]),
        ("0 0 13 * 5", ["2026-11-27T00:00:00", "2026-12-04T00:00:00", "2026-12-11T00:00:00"]),
        ("0 0 13 * ?", ["2026-12-13T00:00:00"]), ("0 0 ? * 5", ["2026-11-27T00:00:00"]),
        // With a star both must hold: odd days that are Mondays.
        ("0 0 */2 * 1", ["2026-11-23T00:00:00", "2026-12-07T00:00:00"]),
        ("0 0 * * 1#1", ["2026-12-07T00:00:00", "2027-01-04T00:00:00", "2027-02-01T00:00:00"]),
        ("0 0 * * tue#5", ["2026-12-29T00:00:00", "2027-03-30T00:00:00"]),
        ("0 0 * * 5L", ["2026-11-27T00:00:00", "2026-12-25T00:00:00", "2027-01-29T00:00:00"]),
        ("0 0 LW * *", ["2026-11-30T00:00:00", "2026-12-31T00:00:00", "2027-01-29T00:00:00"]),
        // 1 August and 31 January 2027 are Sundays.
        ("0 0 1W 8 *", ["2027-08-02T00:00:00", "2028-08-01T00:00:00"]),
        ("0 0 31w * *", ["2026-12-31T00:00:00", "2027-01-29T00:00:00", "2027-03-31T00:00:00"]),
        ("0 9-17/4 * * *", ["2026-11-21T17:00:00", "2026-11-22T09:00:00", "2026-11-22T13:00:00"]),
        ("0 0 1 jan,Jul *", ["2027-01-01T00:00:00", "2027-07-01T00:00:00"]),
        ("@hourly", ["2026-11-21T17:00:00", "2026-11-21T18:00:00"]),
        ("@daily", ["2026-11-22T00:00:00", "2026-11-23T00:00:00"]),
        ("@midnight", ["2026-11-22T00:00:00"]),
        ("@weekly", ["2026-11-22T00:00:00", "2026-11-29T00:00:00"]),
        ("@monthly", ["2026-12-01T00:00:00", "2027-01-01T00:00:00"]),
        ("@YEARLY", ["2027-01-01T00:00:00", "2028-01-01T00:00:00"]),
        ("@annually", ["2027-01-01T00:00:00"]),
    ])
    func `An expression comes at its times`(text: String, expected: [String]) throws {
        let recurrence = try Recurrence.calendar(CalendarExpression(text), zone: .utc)
        var at = try #require(Timestamp.unixNanoseconds("2026-11-21T16:31:04Z"))
        let start = at
        for time in expected {
            let slot = try #require(recurrence.next(after: at))
            #expect(Timestamp.text(unixNanoseconds: slot) == time + ".000Z")
            at = slot
        }
        #expect(recurrence.count(after: start, through: at) == expected.count)
    }

    @Test(arguments: [
        ("", CalendarError.Kind.fieldCount(0), 0, 0),
        ("* * * *", .fieldCount(4), 0, 7),
        ("* * * * * * *", .fieldCount(7), 0, 13),
        ("60 * * * *", .outOfRange, 0, 2),
        ("* 24 * * *", .outOfRange, 2, 2),
        ("* * 0 * *", .outOfRange, 4, 1),
        ("* * 32W * *", .outOfRange, 4, 2),
        ("* * * 13 *", .outOfRange, 6, 2),
        ("* * * * 8", .outOfRange, 8, 1),
        ("* * * * 1#6", .outOfRange, 10, 1),
        ("* * * * 1#", .outOfRange, 10, 0),
        ("99999999999999999999 * * * *", .malformed, 0, 20),
        ("-5 * * * *", .malformed, 0, 0),
        ("5- * * * *", .malformed, 2, 0),
        ("1-2-3 * * * *", .malformed, 2, 3),
        ("1,,2 * * * *", .malformed, 2, 0),
        ("1, * * * *", .malformed, 2, 0),
        (", * * * *", .malformed, 0, 0),
        ("*/0 * * * *", .outOfRange, 2, 1),
        ("*/60 * * * *", .outOfRange, 2, 2),
        ("*/ * * * *", .malformed, 2, 0),
        ("*/x * * * *", .malformed, 2, 1),
        ("*/5/5 * * * *", .malformed, 2, 3),
        ("5/15 * * * *", .malformed, 0, 1),
        ("0 22-2 * * *", .backwardRange, 2, 4),
        ("* * * * fri-mon", .backwardRange, 8, 7),
        ("? * * * *", .malformed, 0, 1),
        ("* * * * L", .malformed, 8, 1),
        ("L * * * *", .malformed, 0, 1),
        ("* * * january *", .malformed, 6, 7),
        ("* * * mon *", .malformed, 6, 3),
        ("0 12 * *\u{A0}*", .fieldCount(4), 0, 11),
        ("0 12 * * *\n", .malformed, 9, 2),
        ("0 12 * * \u{1F980}", .malformed, 9, 4),
        ("@reboot", .unknownMacro, 0, 7),
        ("@", .unknownMacro, 0, 1),
        (" @daily 5", .unknownMacro, 1, 8),
        ("0 0 30 2 *", .neverComes, 0, 10),
        ("0 0 31 4,6,9,11 ?", .neverComes, 0, 17),
        ("0 0 31W 2 *", .neverComes, 0, 11),
    ])
    func `Bad expressions are refused with their place`(
        text: String,
        kind: CalendarError.Kind,
        offset: Int,
        length: Int
    ) throws {
        let error = try #require(throws: CalendarError.self) { try CalendarExpression(text) }
        #expect(error.kind == kind)
        #expect(error.offset == offset)
        #expect(error.length == length)
        #expect(!error.message.isEmpty && !error.help.isEmpty)
    }

    @Test func `The error has the valid form`() throws {
        let texts = ["0 22-2 * * *", "5/15 * * * *", "* * * january *"].map { text in
            #expect(throws: CalendarError.self) { try CalendarExpression(text) }?.description
        }
        #expect(
            texts == [
                "byte 2: the range `22-2` ends before it begins; "
                    + "write both parts of it: 22-23,0-2",
                "byte 0: a step stands behind the single minute 5; "
                    + "write where it ends, as in 5-59/5",
                "byte 6: `january` stands for the month; it takes *, 1-12 or jan-dec, "
                    + "lists (1,5), ranges (1-5) and steps (*/5, 1-5/2)",
            ]
        )
    }

    @Test(arguments: [",", "*", " ", "1-2,", "L", "@", "9", "\u{0}", "*/1,"])
    func `Refuses floods of text`(part: String) throws {
        let text = String(repeating: part, count: (1 << 20) / part.utf8.count)
        let error = try #require(throws: CalendarError.self) { try CalendarExpression(text) }
        #expect(error.kind == .tooLong)
        #expect(error.message.utf8.count < 200)
    }

    @Test func `Reads the longest that makes sense`() throws {
        let all = (0...59).map(String.init).joined(separator: ",")
        let hours = (0...23).map(String.init).joined(separator: ",")
        let expression = try CalendarExpression("\(all) \(all) \(hours) * * *")
        #expect(expression.leastSpacing == 1)
        #expect(!expression.hasWildcardHour)
    }

    /// Any text either is refused or comes, and nothing traps.
    @Test(arguments: SeededGenerator.seeds(4))
    func `Noise is refused or read`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("0123456789*/,-?LW# @abjnufesmondaily\u{7F}é")
        for _ in 0..<2000 {
            let length = Int.random(in: 0...24, using: &generator)
            let characters = (0..<length).map { _ in alphabet.randomElement(using: &generator) }
            let text = String(characters.compactMap { $0 })
            guard let expression = try? CalendarExpression(text) else { continue }
            #expect(expression.first(from: 0, before: 40 * 366 * 86_400) != nil, "\(text)")
        }
    }

    @Test(arguments: [
        ("* * * * * *", Int64(1)), ("*/7 * * * * *", 4), ("* * * * *", 60),
        ("59 59 * * * *", 3600), ("0,50 * * * *", 600), ("0 0,23 * * *", 3600),
        ("0 0,23 1 * *", 82_800), ("0 0 * * *", 86_400), ("0 0 1,31 * *", 86_400),
    ])
    func `Knows its least spacing`(text: String, seconds: Int64) throws {
        #expect(try CalendarExpression(text).leastSpacing == seconds)
    }

    @Test(arguments: ["0 0 1 * *", "0 0 * * 1", "0 0 29 2 *"])
    func `Has no spacing within two days`(text: String) throws {
        #expect(try CalendarExpression(text).leastSpacing == nil)
    }
}
