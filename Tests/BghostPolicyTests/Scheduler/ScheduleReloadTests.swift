// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import BghostBase
import BghostCalendar
import BghostFacts
import BghostModel
import BghostPolicy
import Testing

/// Schedules that another manifest changes.
@Suite struct ScheduleReloadTests {
    private typealias Hand = SchedulerHand

    private static func every(_ seconds: Int) -> TaskSchedule {
        TaskSchedule(times: .every(.seconds(seconds)))
    }

    /// The task `a`, changed in some way.
    private static func manifest(
        _ adjust: (inout TaskDefinition) -> Void = { _ in }
    ) throws -> Manifest {
        try Hand.manifest("a", adjust: adjust)
    }

    @Test func `An edited schedule replaces the pending start`() throws {
        var hand = Hand(try Self.manifest { $0.schedule = Self.every(3600) })
        hand.pass(Hand.hour / 2)
        hand.reload(try Self.manifest { $0.schedule = Self.every(7200) })
        hand.pass(2 * Hand.hour - 1)
        #expect(hand.running.isEmpty)
        hand.pass(1)
        #expect(hand.running == ["a"])
        #expect(hand.scheduler.requests(of: "a").count == 1)
    }

    @Test func `A due start keeps its run when the schedule is edited`() throws {
        let online: (inout TaskDefinition) -> Void = { task in
            task.schedule = Self.every(3600)
            task.requirements = .network
        }
        var hand = Hand(try Self.manifest(online))
        hand.pass(Hand.hour)
        let due = try #require(hand.scheduler.requests(of: "a").first)
        #expect(hand.running.isEmpty && due.scheduledTime == Hand.noon + Hand.hour)
        hand.reload(try Self.manifest { $0.schedule = Self.every(600) })
        // Its new terms require nothing.
        #expect(hand.begun.map(\.record.request) == [due.id])
        let next = try #require(hand.scheduler.requests(of: "a").first)
        #expect(next.scheduledTime == Hand.noon + Hand.hour + 600 * Hand.second)
        #expect(hand.ends.isEmpty)
    }

    @Test func `A schedule edited while it runs does not disturb the run`() throws {
        var hand = Hand(try Self.manifest { $0.schedule = Self.every(3600) })
        hand.pass(Hand.hour)
        #expect(hand.running == ["a"])
        hand.reload(try Self.manifest { $0.schedule = Self.every(60) })
        #expect(hand.running == ["a"])
        try hand.end(after: Hand.second)
        hand.pass(60 * Hand.second)
        #expect(hand.running == ["a"])
    }

    @Test func `A removed schedule starts nothing, and makes up for nothing when it returns`()
        throws
    {
        let scheduled = try Self.manifest { $0.schedule = Self.every(3600) }
        var hand = Hand(scheduled)
        let pending = try #require(hand.scheduler.requests(of: "a").first)
        hand.reload(try Self.manifest())
        #expect(hand.ends == [pending.id: .cancelled])
        hand.pass(5 * Hand.hour)
        #expect(hand.running.isEmpty)
        hand.reload(scheduled)
        #expect(hand.running.isEmpty)
        #expect(hand.notes.allSatisfy { $0.code != "task.missed" })
        hand.pass(Hand.hour)
        #expect(hand.running == ["a"])
    }

    @Test func `A schedule removed while the daemon was down is removed too`() throws {
        let scheduled = try Self.manifest { $0.schedule = Self.every(3600) }
        var hand = Hand(scheduled)
        hand.restart(try Self.manifest())
        hand.pass(5 * Hand.hour)
        #expect(hand.running.isEmpty && hand.pending.isEmpty)
        hand.restart(scheduled)
        #expect(hand.running.isEmpty)
        #expect(hand.scheduler.requests(of: "a").first?.earliestBegin == hand.now.unix + Hand.hour)
    }

    @Test func `Another time zone moves the next time`() throws {
        func noon(_ offset: Int64) throws -> TaskSchedule {
            TaskSchedule(
                times: .calendar(
                    try CalendarExpression("0 12 * * *"),
                    zone: ZoneTable(name: "Z\(offset)", fixedOffset: offset),
                    gap: .shift,
                    fold: .first
                )
            )
        }
        let (utc, east) = (try noon(0), try noon(3600))
        var hand = Hand(try Self.manifest { $0.schedule = utc }, at: Hand.noon + Hand.hour)
        #expect(hand.scheduler.requests(of: "a").first?.scheduledTime == Hand.noon + Hand.day)
        hand.reload(try Self.manifest { $0.schedule = east })
        #expect(
            hand.scheduler.requests(of: "a").first?.scheduledTime == Hand.noon + Hand.day
                - Hand.hour
        )
    }
}
