// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostTestSupport
import Glibc
import Testing

/// Every time zone of the system over ten years, against Python's `zoneinfo`.
@Suite(.ownThreads) struct ZoneOracleTests {
    @Test(.timeLimit(.minutes(5)))
    func `Every zone agrees with Python`() throws {
        try #require(
            Toolchain.program("python3") != nil,
            "python3 is not on PATH: install Python 3.9 or later, which this is compared to"
        )
        let result = try Command.run(["python3", Oracle.script, Oracle.zones])
        try #require(result.exitCode == 0, "the oracle failed: \(result.error)")
        var names = 0
        var cases = 0
        var shifted = 0
        var zone = ZoneTable.utc
        var expressions: [Substring: CalendarExpression] = [:]
        for line in result.output.split(separator: "\n") {
            let words = line.split(separator: "\t")
            guard words.first == "case" else {
                let group = words[1].split(separator: ",").map(String.init)
                let bytes = try File.read(Oracle.zones + "/" + group[0])
                for name in group {
                    try #require(try File.read(Oracle.zones + "/" + name) == bytes)
                }
                zone = try ZoneTable(name: group[0], tzif: bytes)
                names += group.count
                continue
            }
            let expression = try expressions[words[1]] ?? CalendarExpression(String(words[1]))
            expressions[words[1]] = expression
            let found = try Oracle.Case(words, expression, zone)
            guard found.isAsSaid else {
                let difference = try found.firstDifference(words)
                Issue.record("\(zone.name), \(line): \(difference)")
                return
            }
            cases += 1
            shifted += found.shifted
        }
        // So that an empty answer is none: the database has had more than 500 names for decades.
        #expect(names > 500)
        #expect(cases > 5 * 400)
        #expect(shifted > 1000)
    }
}

/// The script, and what this package says to the same questions.
private enum Oracle {
    static let script = PackageRoot.path + "/Tests/Fixtures/Calendar/oracle.py"
    static let zones = getenv("TZDIR").map { String(cString: $0) } ?? "/usr/share/zoneinfo"

    struct Case {
        let recurrence: Recurrence
        let zone: ZoneTable
        let ends: (from: Int64, to: Int64)
        let isAsSaid: Bool
        let shifted: Int

        init(_ words: [Substring], _ expression: CalendarExpression, _ zone: ZoneTable) throws {
            self.zone = zone
            recurrence = try Recurrence.calendar(
                expression,
                zone: zone,
                gap: try #require(GapPolicy(rawValue: String(words[2]))),
                fold: try #require(FoldPolicy(rawValue: String(words[3])))
            )
            let from = try #require(Int64(words[4]))
            let to = try #require(Int64(words[5]))
            ends = (from * 1_000_000_000 - 1, to * 1_000_000_000 - 1)
            var digest: UInt64 = 0
            var count = 0
            var shifted = 0
            var at = ends.from
            let isShort = to - from < 7 * 86_400
            // Some with the one before it, so that both directions are compared.
            while let time = recurrence.next(after: at), time <= ends.to {
                if isShort || count % 16 == 0, count > 0, recurrence.last(before: time) != at {
                    break
                }
                if isShort, recurrence.isShifted(time) { shifted += 1 }
                digest = digest &* 1_099_511_628_211 &+ UInt64(bitPattern: time / 1_000_000_000)
                count += 1
                at = time
            }
            self.shifted = shifted
            isAsSaid =
                Int(words[6]) == count && UInt64(words[7]) == digest
                && recurrence.count(after: ends.from, through: ends.to) == count
                && (count == 0 || recurrence.latest(atOrBefore: ends.to) == at)
        }

        /// Where the two part, by asking the script for the instants of the case.
        func firstDifference(_ words: [Substring]) throws -> String {
            let result = try Command.run(
                ["python3", script, zones, zone.name] + words[1...5].map(String.init)
            )
            let expected = result.output.split(separator: "\n").compactMap { Int64($0) }
            var at = ends.from
            for instant in expected {
                guard let time = recurrence.next(after: at), time == instant * 1_000_000_000 else {
                    return "Python has \(text(instant * 1_000_000_000)), "
                        + "here it is \(recurrence.next(after: at).map(text) ?? "nothing")"
                }
                at = time
            }
            let rest = recurrence.count(after: at, through: ends.to)
            return "all \(expected.count) of Python's are here, and \(rest) more; or a look back "
                + "or a count is wrong: \(recurrence.count(after: ends.from, through: ends.to))"
        }

        private func text(_ time: Int64) -> String { Timestamp.text(unixNanoseconds: time) }
    }
}
