// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import BghostBase
import BghostModel
@testable import BghostPolicy
import Testing

@Suite struct ThrottlePointsTests {
    private static let second: UInt64 = 1_000_000_000
    private static let minute: Int64 = 60_000_000_000
    private static let hour: Int64 = 60 * minute

    /// A run that stopped so long after it was asked.
    private static func late(killed isKilled: Bool, number: UInt64 = 1) -> ThrottlePoints.Event {
        .late(
            LateRun(
                run: RunID(high: 0, low: number),
                stoppedAfter: 5 * second,
                isKilled: isKilled,
                endedAt: 10
            )
        )
    }

    @Test func `Grows with each late run and shrinks with success`() {
        var throttle = ThrottlePoints()
        #expect(throttle.nextStart(now: 0) == nil)
        throttle.apply(Self.late(killed: false), now: 10)
        #expect(throttle.points == 1)
        #expect(throttle.nextStart(now: 10) == Self.minute + 10)
        throttle.apply(Self.late(killed: true, number: 2), now: 20)
        #expect(throttle.points == 3)
        #expect(throttle.nextStart(now: 20) == 15 * Self.minute + 20)
        #expect(throttle.runs.map(\.run.low) == [2, 1])
        throttle.apply(.succeeded, now: 30)
        #expect(throttle.points == 2)
        #expect(throttle.nextStart(now: 30) == 5 * Self.minute + 30)
        #expect(throttle.nextStart(now: 5 * Self.minute + 30) == nil)
    }

    @Test func `Is never negative`() {
        var throttle = ThrottlePoints()
        throttle.apply(.succeeded, now: 1)
        #expect(throttle.points == 0)
    }

    @Test func `Is cleared by time and by the operator`() {
        var throttle = ThrottlePoints()
        for _ in 0..<3 { throttle.apply(Self.late(killed: true), now: 0) }
        #expect(throttle.points(now: 0) == 6)
        #expect(throttle.points(now: 6 * Self.hour - 1) == 6)
        #expect(throttle.points(now: 6 * Self.hour) == 5)
        #expect(throttle.points(now: 36 * Self.hour) == 0)
        #expect(throttle.points(now: .max) == 0)
        throttle.clear(now: 5)
        #expect(throttle.nextStart(now: 5) == nil)
        #expect(throttle.runs.isEmpty)
    }

    @Test func `Never delays beyond a day`() {
        var throttle = ThrottlePoints()
        for _ in 0..<1_000 { throttle.apply(Self.late(killed: true), now: 0) }
        #expect(throttle.level(now: 0) == 6)
        #expect(throttle.nextStart(now: 0) == 24 * Self.hour)
        #expect(throttle.nextStart(now: 24 * Self.hour) == nil)
        #expect(throttle.runs.count == ThrottlePoints.runsMax)
        // Nor does a bad week delay anything for a year.
        #expect(throttle.points(now: 72 * Self.hour) == 0)
    }

    /// Six points are a day's delay, but six hours later they are five, which are four hours.
    @Test func `Points that time takes away shorten the delay`() {
        var throttle = ThrottlePoints()
        for _ in 0..<3 { throttle.apply(Self.late(killed: true), now: 0) }
        #expect(throttle.nextStart(now: 0) == 6 * Self.hour)
        #expect(throttle.nextStart(now: 6 * Self.hour - 1) == 6 * Self.hour)
        #expect(throttle.nextStart(now: 6 * Self.hour) == nil)
    }

    @Test func `No delay is longer than the manifest says`() {
        var throttle = ThrottlePoints()
        for _ in 0..<3 { throttle.apply(Self.late(killed: true), now: 0) }
        #expect(throttle.nextStart(now: 0, delayMax: 120) == 2 * Self.minute)
        let policy = ThrottlePolicy(delayMax: .seconds(120))
        #expect(policy.nextStart(throttle, now: 0) == 2 * Self.minute)
        #expect(ThrottlePolicy(mode: .off).nextStart(throttle, now: 0) == nil)
    }

    /// systemd waited years for a date that a clock in the future had written.
    @Test func `A clock that was ahead delays nothing`() throws {
        var throttle = ThrottlePoints()
        throttle.apply(Self.late(killed: false), now: 1_000 * Self.hour)
        throttle.limit(now: 5)
        // The time of the question does not move it.
        for now in [5, 7] as [Int64] {
            #expect(throttle.nextStart(now: now) == 5 + Self.minute)
        }
    }

    @Test func `The stored runs are read again`() {
        var throttle = ThrottlePoints()
        throttle.apply(Self.late(killed: false, number: .max), now: 10)
        throttle.apply(Self.late(killed: true, number: 7), now: 20)
        #expect([LateRun](text: throttle.runs.text) == throttle.runs)
        #expect([LateRun](text: "x 1 2 3") == nil)
        #expect([LateRun](text: throttle.runs.text + " 1") == nil)
    }

    // MARK: Which runs earn points

    /// How a run ended, whatever it answered, and what it earns with a grace of ten seconds.
    @Test(
        arguments: [
            // In time: nothing, whatever it answered.
            (.cancelledClean, .expired, 2_000_000, false, nil),
            (.failed, .expired, 2_000_000, false, nil),
            (.succeeded, .expired, 2_000_000, false, 0),
            (.cancelledClean, .quota, 5_000_000_000, false, nil),
            // Late: one point, whatever it answered.
            (.cancelledClean, .expired, 5_000_000_001, false, 1),
            (.succeeded, .expired, 9_999_000_000, false, 1),
            (.failed, .quota, 9_999_000_000, false, 1),
            (.crashed(.signalled(11)), .expired, 9_000_000_000, false, 1),
            // Late, since its transfer went on without it.
            (.cancelledClean, .expired, 9_000_000_000, true, nil),
            // Killed, also if a transfer continues.
            (.killed(.graceExceeded), .expired, 10_000_000_000, false, 2),
            (.killed(.graceExceeded), .expired, 10_000_000_000, true, 2),
            (.killed(.graceExceeded), .quota, 10_000_000_000, false, 2),
            (.abandoned, .expired, 10_000_000_000, false, 2),
            // Not asked, or by others than its own limits.
            (.killed(.memory), nil, nil, false, nil), (.killed(.cpu), nil, nil, false, nil),
            (.killed(.graceExceeded), .user, 10_000_000_000, false, nil),
            (.killed(.graceExceeded), .drain, 10_000_000_000, false, nil),
            (.cancelledClean, .condition, 9_000_000_000, false, nil), (.lost, nil, nil, false, nil),
            (.failed, nil, nil, false, nil), (.succeeded, nil, nil, false, 0),
        ] as [(Outcome, StopReason?, UInt64?, Bool, Int?)]
    )
    func `Only a late stop earns throttle points`(
        outcome: Outcome,
        reason: StopReason?,
        stoppedAfter: UInt64?,
        hasDetached: Bool,
        earns: Int?
    ) {
        let finish = RunFinish(
            record: RunRecord(
                id: RunID(high: 0, low: 1),
                request: RunID(high: 0, low: 2),
                task: "t",
                plugin: "p",
                stopReason: reason,
                limits: RunLimits(runtime: .seconds(25), grace: .seconds(10)),
                submittedAt: 0
            ),
            outcome: outcome,
            stoppedAfter: stoppedAfter,
            hasDetached: hasDetached
        )
        #expect(ThrottlePolicy(mode: .off).event(of: finish) == nil)
        switch ThrottlePolicy().event(of: finish) {
        case .late(let run): #expect(run.points == earns && run.stoppedAfter == stoppedAfter)
        case .succeeded: #expect(earns == 0)
        case nil: #expect(earns == nil)
        }
    }

    @Test func `The manifest says how soon is in time`() {
        let limits = RunLimits(runtime: .seconds(25), grace: .seconds(10))
        #expect(ThrottlePolicy().stopLimit(limits) == 5 * Self.second)
        #expect(ThrottlePolicy(stopWithin: .seconds(8)).stopLimit(limits) == 8 * Self.second)
    }
}
