// SPDX-License-Identifier: Apache-2.0

@testable import BghostCalendar
import BghostTestSupport
import Testing

@Suite(.ownThreads) struct MisfirePlanTests {
    /// A schedule at each full hour.
    private let hourly: Recurrence
    private static let minute: Int64 = 60_000_000_000
    private static let hour = 60 * minute
    private static let day = 24 * hour

    init() throws {
        hourly = try Recurrence.calendar(CalendarExpression("@hourly"), zone: .utc)
    }

    // MARK: - Downtime

    @Test(arguments: [
        // The last slot was at 0 o'clock, and it is half past five.
        DowntimeCase(.once, times: [5], missed: 4, from: 1),
        DowntimeCase(.skip, times: [], missed: 5, from: 1),
        DowntimeCase(.all(max: 3), times: [3, 4, 5], missed: 2, from: 1),
        DowntimeCase(.all(max: 5), times: [1, 2, 3, 4, 5], missed: 0, from: nil),
        DowntimeCase(.all(max: .max), times: [1, 2, 3, 4, 5], missed: 0, from: nil),
        DowntimeCase(.all(max: 0), times: [], missed: 5, from: 1),
        DowntimeCase(.all(max: .min), times: [], missed: 5, from: 1),
        DowntimeCase(.once, deadline: 29, times: [], missed: 5, from: 1),
        DowntimeCase(.once, deadline: 30, times: [5], missed: 4, from: 1),
        DowntimeCase(.all(max: 9), deadline: 150, times: [3, 4, 5], missed: 2, from: 1),
        DowntimeCase(.all(max: 2), deadline: 150, times: [4, 5], missed: 3, from: 1),
        // On time is what is not later than that.
        DowntimeCase(.skip, onTime: 30, times: [5], missed: 4, from: 1),
        DowntimeCase(.skip, deadline: 10, onTime: 30, times: [], missed: 5, from: 1),
    ])
    fileprivate func `Downtime is made up for as the policy says`(downtime: DowntimeCase) {
        let plan = MisfirePlan(
            hourly,
            history: MisfirePlan.History(lastServedTime: 0, editedAt: -Self.day),
            now: 5 * Self.hour + 30 * Self.minute,
            rules: downtime.rules
        )
        #expect(plan.times == downtime.times.map { $0 * Self.hour })
        #expect(plan.missedCount == downtime.missed)
        #expect(plan.missedFrom == downtime.from.map { $0 * Self.hour })
        #expect(plan.next == 6 * Self.hour)
        #expect(plan.lastServedTime == 5 * Self.hour)
        #expect(!plan.sawClockBack)
    }

    /// A slot that is met at once is no misfire.
    @Test(arguments: [MisfirePlan.Policy.once, .skip, .all(max: 1)])
    func `Submits slots on time`(policy: MisfirePlan.Policy) {
        let plan = MisfirePlan(
            hourly,
            history: MisfirePlan.History(lastServedTime: 0, editedAt: nil),
            now: Self.hour + 5_000_000,
            rules: MisfirePlan.Rules(policy: policy, startDeadline: Self.minute)
        )
        #expect(plan.times == [Self.hour] && plan.missedCount == 0 && plan.missedFrom == nil)
        #expect(plan.next == 2 * Self.hour)
    }

    @Test func `Counts a long downtime without going through it`() throws {
        let each = try Recurrence.calendar(CalendarExpression("* * * * * *"), zone: .utc)
        let every = try Recurrence.every(1, anchor: 0, minInterval: 1)
        let now = 3653 * Self.day
        for (recurrence, count) in [(each, now / 1_000_000_000), (every, now)] {
            for policy in [MisfirePlan.Policy.once, .skip, .all(max: .max)] {
                let plan = MisfirePlan(
                    recurrence,
                    history: MisfirePlan.History(lastServedTime: 0, editedAt: nil),
                    now: now,
                    rules: MisfirePlan.Rules(policy: policy)
                )
                #expect(plan.missedCount + plan.times.count == Int(count))
                #expect(plan.times.count <= MisfirePlan.timesMax)
                #expect(plan.lastServedTime == now)
            }
        }
    }

    // MARK: - Edits

    @Test(arguments: [
        // Hours: the last slot, the edit, now; what is submitted.
        EditCase(last: nil, edited: nil, now: 5.5, times: []),
        EditCase(last: nil, edited: 5.5, now: 5.5, times: []),
        EditCase(last: nil, edited: 5.0, now: 5.0, times: []),
        EditCase(last: nil, edited: 4.9, now: 5.0, times: [5]),
        EditCase(last: 1, edited: 5.2, now: 5.5, times: []),
        EditCase(last: 1, edited: 3.5, now: 5.5, times: [4, 5]),
        EditCase(last: 4, edited: 3.5, now: 5.5, times: [5]),
        // Edited while it is due.
        EditCase(last: 4, edited: 5.1, now: 5.1, times: []),
        // Edited by a clock that was ahead.
        EditCase(last: 4, edited: 99, now: 5.5, times: []),
    ])
    fileprivate func `An edit fires no slot of the past`(edit: EditCase) {
        let plan = MisfirePlan(
            hourly,
            history: MisfirePlan.History(
                lastServedTime: edit.last.map { Int64($0) * Self.hour },
                editedAt: edit.edited.map { Int64($0 * Double(Self.hour)) }
            ),
            now: Int64(edit.now * Double(Self.hour)),
            rules: MisfirePlan.Rules(policy: .all(max: 10))
        )
        #expect(plan.times == edit.times.map { $0 * Self.hour })
        #expect(plan.missedCount == 0)
        #expect(plan.next == (Int64(edit.now) + 1) * Self.hour)
    }

    // MARK: - Jumps of the clock

    /// The clock says one thing and then another; what is submitted then, and what is waited for.
    @Test(arguments: [
        JumpCase("back 2 h, the last hour done", last: 12, now: 10.5, times: [], next: 11),
        JumpCase("back 1 h, the last hour done", last: 12, now: 11.5, times: [], next: 13),
        JumpCase("back 1 s over the time", last: 12, now: 11.9997, times: [], next: 13),
        JumpCase("back 26 h", last: 36, now: 10, times: [], next: 11),
        JumpCase("back from 3 years ahead", last: 26_280, now: 10.5, times: [], next: 11),
        JumpCase("back from 200 years ahead", last: 1_752_000, now: 10.5, times: [], next: 11),
        JumpCase("no jump", last: 12, now: 12.5, times: [], next: 13),
        JumpCase("forward 1 h, over one time", last: 12, now: 13.5, times: [13], next: 14),
        JumpCase("forward 1 y", last: 12, now: 8772.5, times: [8772], next: 8773),
        JumpCase("forward 200 y", last: 12, now: 1_752_000.5, times: [1_752_000], next: 1_752_001),
        JumpCase("from before 1970", last: -87_660, now: 0.5, times: [0], next: 1),
        JumpCase("to before 1970", last: 12, now: -87_660.5, times: [], next: -87_660),
    ])
    fileprivate func `Jumps of the clock lose and repeat no slot`(jump: JumpCase) {
        let plan = MisfirePlan(
            hourly,
            history: MisfirePlan.History(lastServedTime: jump.last * Self.hour, editedAt: nil),
            now: Int64(jump.now * Double(Self.hour)),
            isTaken: { $0 == jump.last * Self.hour }
        )
        #expect(plan.times == jump.times.map { $0 * Self.hour })
        #expect(plan.next == jump.next * Self.hour)
        #expect(plan.sawClockBack == (Double(jump.last) > jump.now))
    }

    @Test func `Takes back what a wrong clock said`() throws {
        // The machine began with a clock three years ahead and ran one slot; then it was set right.
        let wrong = 26_280 * Self.hour
        let set = MisfirePlan(
            hourly,
            history: MisfirePlan.History(lastServedTime: wrong, editedAt: 0),
            now: 10 * Self.hour + 1
        )
        #expect(set.times.isEmpty && set.next == 11 * Self.hour)
        let then = MisfirePlan(
            hourly,
            history: MisfirePlan.History(lastServedTime: set.lastServedTime, editedAt: 0),
            now: 11 * Self.hour
        )
        #expect(then.times == [11 * Self.hour] && then.missedCount == 0)
        // Three years later the slot of then is known to have run.
        let later = MisfirePlan(
            hourly,
            history: MisfirePlan.History(lastServedTime: wrong - Self.hour, editedAt: 0),
            now: wrong,
            isTaken: { $0 == wrong }
        )
        #expect(later.times.isEmpty && later.missedCount == 0 && later.lastServedTime == wrong)
    }

    @Test(arguments: [Int64.min, .min + 1, -1, 0, .max - 1, .max])
    func `Survives the ends of time`(now: Int64) throws {
        let every = try Recurrence.every(7, anchor: 3, minInterval: 1)
        for recurrence in [hourly, every] {
            for last in [nil, Int64.min, 0, Int64.max] {
                for edited in [nil, Int64.min, Int64.max] {
                    let plan = MisfirePlan(
                        recurrence,
                        history: MisfirePlan.History(lastServedTime: last, editedAt: edited),
                        now: now,
                        rules: MisfirePlan.Rules(
                            policy: .all(max: 3),
                            offset: StableOffset(machine: "a", identifier: "b", window: Self.hour)
                        )
                    )
                    #expect(plan.times.allSatisfy { $0 <= now })
                    #expect(plan.missedCount >= 0)
                }
            }
        }
    }

    /// However the clock jumps and whenever the schedule is looked at, no slot is submitted twice,
    /// none before its time, none from before an edit, and the next one is never behind.
    @Test(arguments: SeededGenerator.seeds(16))
    func `No slot fires twice`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let zone = try ZoneFixture.berlin()
        let texts = ["*/10 * * * *", "30 2 * * *", "0 0 L * *", "0,30 1-3 * * *", "@hourly"]
        let text = texts.randomElement(using: &generator) ?? "@hourly"
        let fold = FoldPolicy.allCases.randomElement(using: &generator) ?? .first
        let calendar = try Recurrence.calendar(CalendarExpression(text), zone: zone, fold: fold)
        let every = try Recurrence.every(17 * Self.minute, anchor: 5)
        let recurrence = Bool.random(using: &generator) ? calendar : every
        let window = Bool.random(using: &generator) ? Self.hour : 0
        let offset = StableOffset(machine: "m\(seed)", identifier: text, window: window)
        let policies = [MisfirePlan.Policy.once, .skip, .all(max: 4)]
        var now = try seconds("2026-03-20T00:00:00Z") * 1_000_000_000
        var history = MisfirePlan.History(lastServedTime: nil, editedAt: now)
        var fired: Set<Int64> = []
        for _ in 0..<400 {
            switch Int.random(in: 0..<20, using: &generator) {
            case 0: now -= Int64.random(in: 0...(60 * Self.day), using: &generator)
            case 1: now += Int64.random(in: 0...(60 * Self.day), using: &generator)
            case 2: now -= Int64.random(in: 0...(3 * Self.hour), using: &generator)
            case 3: history.editedAt = now
            default: now += Int64.random(in: 0...(2 * Self.hour), using: &generator)
            }
            let rules = MisfirePlan.Rules(
                policy: policies.randomElement(using: &generator) ?? .once,
                offset: offset
            )
            let plan = MisfirePlan(recurrence, history: history, now: now, rules: rules) {
                fired.contains($0)
            }
            for time in plan.times {
                #expect(fired.insert(time).inserted, "\(text) at \(now)")
                #expect(try #require(offset.start(of: time)) <= now)
                if let edited = history.editedAt, edited <= now {
                    #expect(try #require(offset.start(of: time)) > edited)
                }
            }
            let next = try #require(plan.next)
            #expect(try #require(offset.start(of: next)) > now)
            #expect(!fired.contains(next))
            // It waits for nothing but slots that were submitted.
            let handled = try #require(plan.lastServedTime ?? history.editedAt)
            if plan.lastServedTime != nil { #expect(handled <= now) }
            var passed = recurrence.next(after: max(handled, offset.scheduledTime(now)))
            while let time = passed, time < next {
                #expect(fired.contains(time))
                passed = recurrence.next(after: time)
            }
            history.lastServedTime = plan.lastServedTime
        }
        #expect(!fired.isEmpty)
    }

    @Test func `Keeps slots and starts apart`() throws {
        // Spread by up to two hours, on a machine that starts again each half hour.
        let offset = StableOffset(machine: "far", identifier: "feed", window: 2 * Self.hour)
        var history = MisfirePlan.History(lastServedTime: nil, editedAt: 0)
        var times: [Int64] = []
        for step in 0..<480 {
            let plan = MisfirePlan(
                hourly,
                history: history,
                now: Int64(step) * 30 * Self.minute,
                rules: MisfirePlan.Rules(offset: offset)
            )
            times += plan.times
            history.lastServedTime = plan.lastServedTime
            #expect(plan.missedCount == 0)
        }
        let first = try #require(times.first)
        #expect(times == (0..<times.count).map { first + Int64($0) * Self.hour })
        #expect(times.count >= 237)
    }
}

private struct DowntimeCase: Sendable {
    var rules: MisfirePlan.Rules
    /// Hours.
    var times: [Int64]
    var missed: Int
    var from: Int64?

    /// - Parameters:
    ///   - deadline: in minutes.
    ///   - onTime: in minutes.
    init(
        _ policy: MisfirePlan.Policy,
        deadline: Int64? = nil,
        onTime: Int64 = 1,
        times: [Int64],
        missed: Int,
        from: Int64?
    ) {
        rules = MisfirePlan.Rules(
            policy: policy,
            startDeadline: deadline.map { $0 * 60_000_000_000 },
            onTime: onTime * 60_000_000_000
        )
        (self.times, self.missed, self.from) = (times, missed, from)
    }
}

private struct EditCase: Sendable {
    var last: Int?
    var edited: Double?
    var now: Double
    var times: [Int64]
}

private struct JumpCase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// Hours since 1970.
    var last: Int64
    var now: Double
    var times: [Int64]
    var next: Int64

    init(_ name: String, last: Int64, now: Double, times: [Int64], next: Int64) {
        testDescription = name
        (self.last, self.now, self.times, self.next) = (last, now, times, next)
    }
}
