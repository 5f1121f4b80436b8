// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostModel
import BghostPolicy
@testable import BghostSimulation
import BghostTestSupport
import Testing

/// Plans over changes of clocks, and of schedules that start often.
@Suite(.ownThreads) struct SchedulePlanClockTests {
    private static let second: Int64 = 1_000_000_000

    private static func task(_ name: String, _ times: TaskSchedule.Times) throws -> TaskDefinition {
        TaskDefinition(
            identifier: try #require(IdentifierPattern(name)),
            handler: .plugin(name: "p", handler: "h"),
            schedule: TaskSchedule(times: times)
        )
    }

    private static func calendar(
        _ text: String,
        _ zone: ZoneTable = .utc,
        gap: GapPolicy = .shift,
        fold: FoldPolicy = .first
    ) throws -> TaskSchedule.Times {
        .calendar(try CalendarExpression(text), zone: zone, gap: gap, fold: fold)
    }

    private static func nanoseconds(_ text: String) throws -> Int64 {
        try #require(Timestamp.unixNanoseconds(text))
    }

    /// Central European time by its rule, without a file of the system.
    private static func berlin() throws -> ZoneTable {
        func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
        // Of each form: one offset, whose name has four bytes, and no change.
        let header = Array("TZif2".utf8) + zeros(15) + zeros(19) + [1] + zeros(3) + [4]
        let block = zeros(6) + Array("XYZ\0".utf8)
        let rule = Array("\nCET-1CEST,M3.5.0,M10.5.0/3\n".utf8)
        return try ZoneTable(name: "Berlin", tzif: header + block + header + block + rule)
    }

    @Test func `Says which start a change of the clock moves, and which it skips`() throws {
        let berlin = try Self.berlin()
        let manifest = Manifest(tasks: [
            try Self.task("moved", Self.calendar("30 2 * * *", berlin)),
            try Self.task("skipped", Self.calendar("30 2 * * *", berlin, gap: .skip)),
            try Self.task("later", Self.calendar("30 5 * * *", berlin, gap: .skip)),
            try Self.task("elsewhere", Self.calendar("30 2 * * *")),
        ])
        let plan = SchedulePlan(
            manifest,
            from: try Self.nanoseconds("2026-03-28T12:00:00Z"),
            through: try Self.nanoseconds("2026-03-29T12:00:00Z"),
            machine: "",
            countMax: 100
        )
        let change = try Self.nanoseconds("2026-03-29T01:00:00Z")
        #expect(
            plan.clockChanges == [
                SchedulePlan.ClockChange(
                    zone: "Berlin",
                    at: change,
                    offsetBefore: 3600,
                    offsetAfter: 7200,
                    skipped: ["skipped"]
                )
            ]
        )
        #expect(plan.starts.map(\.task) == ["moved", "elsewhere", "later"])
        #expect(plan.starts.first?.start == change)
        #expect(plan.starts.first?.note.contains("clocks go forward") == true)
    }

    @Test func `Says which starts a change of the clock doubles`() throws {
        let berlin = try Self.berlin()
        let manifest = Manifest(tasks: [
            try Self.task("both", Self.calendar("30 2 * * *", berlin, fold: .both)),
            try Self.task("once", Self.calendar("30 2 * * *", berlin, gap: .skip)),
        ])
        let plan = SchedulePlan(
            manifest,
            from: try Self.nanoseconds("2026-10-24T12:00:00Z"),
            through: try Self.nanoseconds("2026-10-25T12:00:00Z"),
            machine: "",
            countMax: 100
        )
        #expect(plan.starts.map(\.task) == ["both", "once", "both"])
        #expect(plan.starts.allSatisfy { $0.note.contains("comes twice") })
        #expect(plan.clockChanges.map(\.offsetAfter) == [3600])
        #expect(plan.clockChanges.map(\.skipped) == [[]])
    }

    @Test func `A task that starts often does not hide the others`() throws {
        let manifest = Manifest(tasks: [
            try Self.task("often", Self.calendar("* * * * * *")),
            try Self.task("noon", Self.calendar("0 12 * * *")),
        ])
        let day = 86_400 * Self.second
        let plan = SchedulePlan(
            manifest,
            from: 0,
            through: day,
            machine: "",
            countMax: 100,
            perTaskMax: 3
        )
        #expect(plan.starts.map(\.task) == ["often", "often", "often", "noon"])
        #expect(
            plan.frequent == [
                SchedulePlan.FrequentTask(
                    task: "often",
                    count: 86_401,
                    listedThrough: 2 * Self.second
                )
            ]
        )
        #expect(!plan.isCutOff)
        let one = SchedulePlan(
            manifest,
            from: 0,
            through: 10 * day,
            machine: "",
            countMax: 100,
            perTaskMax: 10,
            task: "noon"
        )
        #expect(one.starts.count == 10 && one.frequent.isEmpty)
    }

    @Test func `An interval counts from when the daemon saw it first`() throws {
        let manifest = Manifest(tasks: [
            try Self.task("known", .every(.seconds(21_600))),
            try Self.task("new", .every(.seconds(21_600))),
        ])
        let from = try Self.nanoseconds("2026-03-01T06:00:00Z")
        let plan = SchedulePlan(
            manifest,
            from: from,
            through: from + 21_000 * Self.second,
            machine: "",
            countMax: 100,
            seenSince: ["known": from - 3600 * Self.second]
        )
        #expect(plan.starts.map(\.task) == ["new", "known"])
        #expect(plan.starts.map(\.start) == [from, from + 18_000 * Self.second])
        #expect(plan.starts.last?.note == "")
        #expect(plan.starts.first?.note.contains("counted") == true)
    }

    @Test func `The starts of many schedules are in order, and none is missing`() throws {
        var generator = SeededGenerator(seed: 7)
        let intervals = (0..<200).map { _ in Int64.random(in: 1...5000, using: &generator) }
        let tasks = try intervals.enumerated().map { index, interval in
            try Self.task("t\(index)", .every(.seconds(interval)))
        }
        let through: Int64 = 20_000
        let plan = SchedulePlan(
            Manifest(tasks: tasks),
            from: 0,
            through: through * Self.second,
            machine: "",
            countMax: .max
        )
        #expect(plan.starts.count == intervals.reduce(0) { $0 + Int(through / $1) + 1 })
        let places = plan.starts.map { "\(100_000_000_000_000 + $0.start) \($0.task)" }
        #expect(places == places.sorted())
    }
}
