// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostFacts
import BghostModel
@testable import BghostPolicy
@testable import BghostSimulation
import BghostTestSupport
import Synchronization
import Testing

/// `randomDelay`: each start is later than its time by a random part of a duration.
@Suite(.ownThreads) struct RandomDelayTests {
    private typealias Hand = SchedulerHand

    private static let longest: Int64 = 600 * Hand.second

    private static func hourly(
        misfire: MisfirePlan.Policy = .once,
        startDeadline: Duration? = nil,
        delay: Int64 = longest
    ) -> TaskSchedule {
        TaskSchedule(
            times: .every(.seconds(3600)),
            misfire: misfire,
            startDeadline: startDeadline,
            randomDelay: .nanoseconds(delay)
        )
    }

    private static func manifest(
        _ schedule: TaskSchedule?,
        _ adjust: (inout TaskDefinition) -> Void = { _ in }
    ) throws -> Manifest {
        try Hand.manifest("a") {
            $0.schedule = schedule
            adjust(&$0)
        }
    }

    /// The date of the pending request.
    private func date(_ hand: Hand) throws -> Int64 {
        let pending = try #require(hand.scheduler.pending("a"))
        return try #require(pending.earliestBegin)
    }

    // MARK: The promise

    @Test(arguments: SeededGenerator.seeds(12))
    func `Each time starts once, within its delay, whatever restarts`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let delay = 10 * World.minute
        let schedules = [
            "interval": Self.hourly(),
            "calendar": TaskSchedule(
                times: .calendar(
                    try CalendarExpression("*/30 * * * *"),
                    zone: .utc,
                    gap: .shift,
                    fold: .first
                ),
                misfire: .skip,
                startDeadline: .seconds(60),
                randomDelay: .nanoseconds(delay)
            ),
        ]
        let lines = StartBox()
        var world = World(
            seed: seed,
            tasks: schedules.sorted { $0.key < $1.key }.map { World.task($0, schedule: $1) },
            observe: { now, event in
                if case .began(let record) = event, record.attempt == 1 {
                    lines.add(record.task, now.unix)
                }
            }
        )
        let end = World.start + 2 * World.day
        while world.simulation.now.unix < end {
            world.simulation.run(for: Int64.random(in: 1...20 * World.minute, using: &random))
            if Int.random(in: 0..<3, using: &random) == 0 { world.simulation.crash() }
        }
        world.simulation.run(for: World.hour)
        #expect(world.simulation.faults == [])
        for (task, interval) in [("interval", World.hour), ("calendar", World.hour / 2)] {
            let starts = lines.starts(of: task)
            let times = Int((end - World.start) / interval)
            for number in 1...times {
                let time = World.start + Int64(number) * interval
                let own = starts.filter { $0 >= time && $0 < time + interval }
                #expect(own.count == 1, "\(task) at \(time)")
                #expect(own.allSatisfy { $0 <= time + delay })
            }
            let delays = Set(starts.map { ($0 - World.start) % interval })
            #expect(delays.count > times / 2, "the delays are drawn anew")
        }
    }

    @Test func `A replay draws the same delays`() throws {
        let manifest = try Self.manifest(Self.hourly())
        var hand = Hand(manifest)
        for _ in 0..<5 {
            hand.pass(Hand.hour + Self.longest)
            try hand.end(after: Hand.second)
        }
        var replay = SchedulerReplay(Hand.settings(manifest))
        try hand.expectTheSame(of: &replay)
    }

    // MARK: Restarts

    @Test func `A restart keeps the drawn date, also after the time has come`() throws {
        let manifest = try Self.manifest(Self.hourly(startDeadline: .seconds(1)))
        var hand = Hand(manifest)
        let date = try date(hand)
        let time = Hand.noon + Hand.hour
        try #require(date > time + Hand.second && date < time + Self.longest)
        hand.restart(manifest)
        #expect(hand.scheduler.pending("a")?.earliestBegin == date)
        // Between the time and its delayed start.
        hand.skip(date - 1 - hand.now.unix)
        hand.restart(manifest)
        #expect(hand.scheduler.pending("a")?.earliestBegin == date)
        #expect(hand.running.isEmpty && hand.skipped.isEmpty)
        hand.pass(1)
        #expect(hand.running == ["a"])
        #expect(hand.begun.first?.record.submittedAt == Hand.noon)
    }

    @Test func `A start that was missed is delayed from the restart on, and only once`() throws {
        let manifest = try Self.manifest(Self.hourly())
        var hand = Hand(manifest)
        hand.skip(5 * Hand.hour + Hand.hour / 2)
        hand.restart(manifest)
        let date = try date(hand)
        #expect(date > hand.now.unix && date <= hand.now.unix + Self.longest)
        #expect(hand.scheduler.pending("a")?.missed?.count == 5)
        hand.skip(Hand.second)
        hand.restart(manifest)
        #expect(hand.scheduler.pending("a")?.earliestBegin == date)
        hand.pass(date - hand.now.unix)
        #expect(hand.running == ["a"])
        try hand.end(after: Hand.second)
        #expect(hand.scheduler.pending("a")?.scheduledTime == Hand.noon + 6 * Hand.hour)
    }

    // MARK: Reloads

    @Test func `Another delay applies from the next start on`() throws {
        var hand = Hand(try Self.manifest(Self.hourly()))
        let before = try #require(hand.scheduler.pending("a"))
        hand.reload(try Self.manifest(Self.hourly(delay: 1)))
        #expect(hand.scheduler.pending("a") == before)
        hand.pass(try date(hand) - hand.now.unix)
        try hand.end(after: Hand.second)
        let time = Hand.noon + 2 * Hand.hour
        let next = try date(hand)
        #expect((time...time + 1).contains(next))
    }

    @Test func `A time that has come keeps its start when the schedule is edited or removed`()
        throws
    {
        for edited in [TaskSchedule(times: .every(.seconds(60))), nil] {
            var hand = Hand(try Self.manifest(Self.hourly()))
            let pending = try #require(hand.scheduler.pending("a"))
            hand.pass(Hand.hour)
            try #require(hand.running.isEmpty)
            hand.reload(try Self.manifest(edited))
            #expect(hand.scheduler.pending("a") == pending)
            hand.pass(try date(hand) - hand.now.unix)
            #expect(hand.begun.map(\.record.request) == [pending.id])
        }
    }

    // MARK: Explanations

    @Test func `The explanation shows the delayed start and its time`() throws {
        var hand = Hand(try Self.manifest(Self.hourly()))
        let date = try date(hand)
        let outlook = try #require(hand.scheduler.outlook(of: "a", now: hand.now))
        #expect(outlook.next == date)
        #expect(outlook.text == "every 1h, each start up to 10m later at random")
        let gate = try #require(hand.gate(.notBefore, of: "a"))
        #expect(gate.until == date)
        #expect(gate.wanted.contains("its time is 2026-11-21T13:00:00"), "\(gate.wanted)")
        #expect(gate.wanted.contains("by up to 10m at random"), "\(gate.wanted)")
        // The next delay is drawn when its request is submitted, so only the time is known.
        hand.pass(date - hand.now.unix)
        try hand.end(after: Hand.second)
        let next = try self.date(hand)
        #expect(hand.scheduler.outlook(of: "a", now: hand.now)?.next == next)
    }

    @Test func `A paused start counts once`() throws {
        let manifest = try Self.manifest(Self.hourly())
        var hand = Hand(manifest)
        hand.skip(3 * Hand.hour + 100 * Hand.second)
        let pause = Pause(target: .tasks("a"), since: hand.now.unix, user: "uid 0")
        hand.store(.paused(pause.target, pause))
        hand.restart(manifest)
        hand.pass(Hand.hour / 2)
        #expect(hand.running.isEmpty)
        #expect(hand.skipped.filter { $0.kind == .paused }.map(\.count).reduce(0, +) == 3)
    }
}

/// The starts of runs, as a simulation reports them.
private final class StartBox: Sendable {
    private let all = Mutex<[String: [Int64]]>([:])

    func add(_ task: String, _ time: Int64) {
        all.withLock { $0[task, default: []].append(time) }
    }

    func starts(of task: String) -> [Int64] { all.withLock { $0[task] ?? [] } }
}
