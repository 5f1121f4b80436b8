// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// Intervals and a wall clock that is set, in either direction.
@Suite struct ClockStepTests {
    private typealias Hand = SchedulerHand

    private static let minutely: CalendarExpression = {
        guard let expression = try? CalendarExpression("* * * * *") else {
            preconditionFailure("each minute is no calendar")
        }
        return expression
    }()

    private static func manifest(
        _ interval: Int64 = 10,
        misfire: MisfirePlan.Policy = .once,
        window: Int64 = 0
    ) throws -> Manifest {
        try Hand.manifest("tick") {
            $0.schedule = TaskSchedule(
                times: .every(.seconds(interval)),
                misfire: misfire,
                window: .seconds(window)
            )
        }
    }

    /// How long until the next start, by the clock that no one sets; `nil` if none waits.
    private static func wait(_ hand: Hand) -> Int64? {
        hand.scheduler.pending("tick")?.earliestBegin.map { $0 - hand.now.unix }
    }

    @Test(arguments: [10 * Hand.hour, -10 * Hand.hour, 400 * Hand.day, -400 * Hand.day])
    func `A clock step does not change an interval`(step: Int64) throws {
        var hand = Hand(try Self.manifest())
        hand.pass(14 * Hand.second)
        try hand.end(after: 0)
        #expect(Self.wait(hand) == 6 * Hand.second)
        hand.setClock(hand.now.unix + step)
        #expect(hand.running.isEmpty)
        let wait = try #require(Self.wait(hand))
        #expect((wait - 6 * Hand.second).magnitude <= 1)
        hand.pass(7 * Hand.second)
        #expect(hand.running == ["tick"])
        #expect(hand.notes.allSatisfy { $0.code != "task.missed" })
        hand.setClock(hand.now.unix - step)
        try hand.end(after: 0)
        hand.pass(10 * Hand.second)
        #expect(hand.running == ["tick"])
    }

    @Test func `A clock step without an event is detected at the next date`() throws {
        var hand = Hand(try Self.manifest())
        hand.pass(11 * Hand.second)
        try hand.end(after: 0)
        hand.jump(to: hand.now.unix - Hand.hour)
        hand.perform { $0.timerFired(now: $1, &$2) }
        #expect(try #require(Self.wait(hand)) <= 10 * Hand.second)
    }

    /// State stored by an earlier version, or by a daemon that ended under a clock that was ahead.
    @Test(arguments: [true, false])
    func `A restart under an earlier clock corrects the interval`(hasRun: Bool) throws {
        let manifest = try Self.manifest()
        var hand = Hand(manifest, at: Hand.noon + 10 * Hand.hour)
        if hasRun {
            hand.pass(11 * Hand.second)
            try hand.end(after: 0)
        }
        hand.jump(to: Hand.noon)
        hand.restart(manifest)
        #expect(try #require(Self.wait(hand)) <= 10 * Hand.second)
        hand.pass(10 * Hand.second)
        #expect(hand.running == ["tick"])
    }

    @Test func `Suspend time counts, and missed starts are made up for once`() throws {
        var hand = Hand(try Self.manifest(3600))
        hand.pass(1800 * Hand.second)
        hand.sleep(8 * Hand.hour)
        hand.perform { $0.clockWasSet(now: $1, &$2) }
        #expect(hand.running == ["tick"])
        #expect(hand.notes.contains { $0.code == "task.missed" })
    }

    /// After any sequence of steps, told or not, with restarts between them, each start comes within
    /// its interval and the step that is not noticed.
    @Test(.timeLimit(.minutes(5)), arguments: SeededGenerator.seeds(24))
    func `Every interval starts in time however the clock is set`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let interval = Int64.random(in: 2...7200, using: &random)
        let policies = [MisfirePlan.Policy.once, .skip, .all(max: 3)]
        let manifest = try Self.manifest(
            interval,
            misfire: policies.randomElement(using: &random) ?? .once,
            window: Bool.random(using: &random) ? interval / 2 : 0
        )
        var hand = Hand(manifest)
        // The first one also waits for the offset of this machine.
        var last = hand.now.monotonic
        var bound = UInt64(2 * interval * Hand.second + ClockSteps.stepMin)
        for _ in 0..<300 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                hand.setClock(
                    hand.now.unix + Int64.random(in: -Hand.day...Hand.day, using: &random)
                )
            case 1:
                let years = 400 * Hand.day
                hand.setClock(hand.now.unix + Int64.random(in: -years...years, using: &random))
            case 2:
                hand.setClock(
                    hand.now.unix + Int64.random(in: -3...3, using: &random) * Hand.second / 2
                )
            case 3:
                hand.jump(
                    to: hand.now.unix + Int64.random(in: -Hand.day...Hand.day, using: &random)
                )
                hand.perform { $0.timerFired(now: $1, &$2) }
            case 4:
                hand.jump(to: hand.now.unix + Int64.random(in: -Hand.day...0, using: &random))
                hand.restart(manifest)
                // How long it was gone is not known: it counts from here.
                last = hand.now.monotonic
            default: hand.pass(Int64.random(in: 0...(interval * Hand.second / 2), using: &random))
            }
            if !hand.begun.isEmpty {
                try hand.end(after: 0)
                last = hand.now.monotonic
                bound = UInt64(interval * Hand.second + ClockSteps.stepMin)
                // Looked at twice in an interval, a start is seen that much later.
                bound += UInt64(interval * Hand.second / 2)
            }
            #expect(hand.now.monotonic.since(last) <= bound)
            let wait = try #require(Self.wait(hand))
            #expect(wait <= interval * Hand.second + ClockSteps.stepMin)
        }
    }

    // MARK: Throttling and parking

    /// Each question put the start off, and each step by which the clock was set back.
    @Test func `A clock that is set back throttles a task for one delay`() throws {
        var hand = Hand(try Self.manifest())
        hand.setClock(hand.now.unix + 10 * Hand.hour)
        hand.pass(11 * Hand.second)
        try hand.end(after: 0, .killed(.graceExceeded))
        let policy = ThrottlePolicy()
        func wait() throws -> Int64 {
            let points = try #require(hand.scheduler.memories(of: "tick").first).throttle
            // What is stored is the same.
            #expect(hand.memories["tick"]?.throttle == points)
            return try #require(policy.nextStart(points, now: hand.now.unix)) - hand.now.unix
        }
        let delay = try wait()
        hand.setClock(hand.now.unix - 10 * Hand.hour)
        #expect(try wait() == delay)
        hand.pass(20 * Hand.second)
        #expect(try wait() == delay - 20 * Hand.second)
        // An event of the clock that changes nothing.
        hand.setClock(hand.now.unix)
        #expect(try wait() == delay - 20 * Hand.second)
        #expect(hand.running.isEmpty)
        hand.pass(delay - 20 * Hand.second)
        #expect(hand.running == ["tick"])
    }

    @Test func `A clock that is set forward ends no request of a removed task`() throws {
        let both = try Hand.manifest("a", "b")
        var hand = Hand(both)
        try hand.submit(Submission(task: "b", earliestBegin: hand.now.unix + Hand.day))
        _ = hand.reload(try Hand.manifest("a"))
        hand.setClock(hand.now.unix + 400 * Hand.day)
        #expect(hand.ends.isEmpty)
        #expect(hand.memories["b"]?.parkedSince == hand.now.unix)
        hand.pass(7 * Hand.day - 1)
        #expect(hand.ends.isEmpty)
        hand.pass(1)
        #expect(hand.ends.count == 1)
    }

    // MARK: Calendars

    @Test func `After a step back a calendar skips only times that already ran`() throws {
        let manifest = try Hand.manifest("tick") {
            $0.schedule = TaskSchedule(
                times: .calendar(
                    Self.minutely,
                    zone: .utc,
                    gap: .shift,
                    fold: .first
                )
            )
        }
        let minute = 60 * Hand.second
        var hand = Hand(manifest)
        hand.setClock(Hand.noon + 10 * Hand.hour + Hand.second)
        // One stands for those of ten hours, and two more come.
        try hand.end(after: 0)
        for _ in 0..<2 {
            hand.pass(minute)
            try hand.end(after: 0)
        }
        hand.setClock(Hand.noon + Hand.second)
        #expect(hand.scheduler.pending("tick")?.scheduledTime == Hand.noon + minute)
        hand.pass(minute)
        #expect(hand.running == ["tick"])
        // Times that ran before do not run again, and why says so.
        try hand.end(after: 10 * Hand.hour - 2 * minute)
        while !hand.begun.isEmpty { try hand.end(after: 0) }
        #expect(
            hand.scheduler.pending("tick")?.scheduledTime == Hand.noon + 10 * Hand.hour + 3 * minute
        )
        let gate = try #require(hand.gate(.notBefore, of: "tick"))
        #expect(gate.now.contains("were served already, while the clock was ahead"), "\(gate.now)")
    }
}
