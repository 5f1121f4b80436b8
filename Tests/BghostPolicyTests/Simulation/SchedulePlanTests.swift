// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostModel
import BghostPolicy
import BghostSimulation
import BghostTestSupport
import Testing

@Suite(.ownThreads) struct SchedulePlanTests {
    private static func task(_ name: String, _ schedule: TaskSchedule) throws -> TaskDefinition {
        TaskDefinition(
            identifier: try #require(IdentifierPattern(name)),
            handler: .plugin(name: "p", handler: "h"),
            schedule: schedule
        )
    }

    private static func calendar(
        _ text: String,
        _ zone: ZoneTable = .utc,
        window: Duration = .zero
    ) throws -> TaskSchedule {
        TaskSchedule(
            times: .calendar(try CalendarExpression(text), zone: zone, gap: .shift, fold: .first),
            window: window
        )
    }

    private static func nanoseconds(_ text: String) throws -> Int64 {
        try #require(Timestamp.unixNanoseconds(text))
    }

    @Test func `Lists all schedules in order`() throws {
        let manifest = Manifest(tasks: [
            try Self.task("noon", try Self.calendar("0 12 * * *")),
            try Self.task("quarter", TaskSchedule(times: .every(.seconds(21_600)))),
            try Self.task("none", try Self.calendar("0 0 1 1 *")),
        ])
        let plan = SchedulePlan(
            manifest,
            from: try Self.nanoseconds("2026-03-01T06:00:00Z"),
            through: try Self.nanoseconds("2026-03-02T12:00:00Z"),
            machine: "m",
            countMax: 100
        )
        #expect(
            plan.starts.map { "\($0.task) \(Timestamp.text(unixNanoseconds: $0.start).prefix(13))" }
                == [
                    "quarter 2026-03-01T06", "noon 2026-03-01T12", "quarter 2026-03-01T12",
                    "quarter 2026-03-01T18", "quarter 2026-03-02T00", "quarter 2026-03-02T06",
                    "noon 2026-03-02T12", "quarter 2026-03-02T12",
                ]
        )
        #expect(!plan.isCutOff)
    }

    @Test func `Says when there is more`() throws {
        let manifest = Manifest(tasks: [try Self.task("often", try Self.calendar("* * * * * *"))])
        let plan = SchedulePlan(manifest, from: 0, through: .max, machine: "", countMax: 3)
        #expect(plan.starts.map(\.start) == [0, 1_000_000_000, 2_000_000_000])
        #expect(plan.isCutOff)
    }

    @Test(arguments: [(Int64.max - 5, Int64.max), (.min, .min), (5, 4)])
    func `Survives the ends of time`(from: Int64, through: Int64) throws {
        let manifest = Manifest(tasks: [
            try Self.task("a", try Self.calendar("0 0 * * *", window: .seconds(3600))),
            try Self.task("b", TaskSchedule(times: .every(.seconds(3600)))),
        ])
        let plan = SchedulePlan(manifest, from: from, through: through, machine: "m", countMax: 9)
        #expect(plan.starts.count <= 1)
    }

    @Test func `A random delay is a window after the start`() throws {
        var schedule = try Self.calendar("0 12 * * *")
        schedule.randomDelay = .seconds(600)
        let manifest = Manifest(tasks: [
            try Self.task("noon", schedule), try Self.task("one", try Self.calendar("0 13 * * *")),
        ])
        let day: Int64 = 86_400_000_000_000
        let plan = SchedulePlan(manifest, from: 0, through: day, machine: "m", countMax: 9)
        #expect(plan.starts.map(\.start) == [day / 2, day / 24 * 13])
        #expect(plan.starts.map(\.latest) == [day / 2 + 600_000_000_000, nil])
    }

    @Test func `An offset moves the start and not the slot`() throws {
        let schedule = try Self.calendar("0 12 * * *", window: .seconds(3600))
        let manifest = Manifest(tasks: [try Self.task("noon", schedule)])
        let day: Int64 = 86_400_000_000_000
        let plan = SchedulePlan(manifest, from: 0, through: 3 * day, machine: "m", countMax: 9)
        #expect(plan.starts.count == 3)
        let offset = try #require(plan.starts.first).start - day / 2
        #expect(offset >= 0 && offset < 3_600_000_000_000)
        for (index, start) in plan.starts.enumerated() {
            #expect(start.start == Int64(index) * day + day / 2 + offset)
        }
    }
}
