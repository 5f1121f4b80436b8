// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

@Suite struct RetryPolicyTests {
    private static let exponential = RetryPolicy(
        backoff: .exponential(base: .seconds(30), cap: .seconds(100)),
        attemptsMax: 5,
        lossesMax: 3
    )

    private static func request(
        _ counters: AttemptCounters = AttemptCounters(),
        latest: Int64? = nil,
        isManual: Bool = false
    ) -> Request {
        Request(
            id: RunID(high: 0, low: 1),
            task: "t",
            parameters: #"{"a":1}"#,
            submittedAt: 5,
            latestBegin: latest,
            priority: 7,
            isManual: isManual,
            scheduledTime: 4,
            counters: counters
        )
    }

    private static func next(
        _ policy: RetryPolicy,
        _ request: Request,
        _ outcome: Outcome,
        _ reason: StopReason? = nil,
        retryAfter: UInt64? = nil,
        wasInDaemon: Bool = false
    ) -> AfterRun {
        let end = RetryPolicy.End(
            outcome: outcome,
            stopReason: reason,
            retryAfter: retryAfter,
            wasInDaemon: wasInDaemon
        )
        // The most that the jitter can be.
        return policy.next(request, after: end, now: 1_000) { $0 - 1 }
    }

    static let unsuccessful: [(Outcome, StopReason?)] = [
        (.failed, nil), (.cancelledClean, .expired), (.cancelledClean, .quota),
        (.killed(.graceExceeded), .expired), (.killed(.memory), .quota), (.killed(.cpu), .quota),
        (.crashed(.signalled(11)), nil), (.crashed(.exited(0)), nil), (.abandoned, .expired),
    ]

    @Test(arguments: unsuccessful)
    func `Without a policy a failed request is removed`(outcome: Outcome, reason: StopReason?) {
        let policy = RetryPolicy(backoff: .none)
        #expect(Self.next(policy, Self.request(), outcome, reason) == .consumed)
    }

    @Test(arguments: [RetryPolicy(backoff: .none), Self.exponential])
    func `Success is the end`(policy: RetryPolicy) {
        let tried = Self.request(AttemptCounters(failures: 2, losses: 1))
        #expect(Self.next(policy, tried, .succeeded) == .consumed)
    }

    @Test(arguments: [RetryPolicy(backoff: .none), Self.exponential])
    func `A run that the operator stopped is not retried`(policy: RetryPolicy) {
        #expect(Self.next(policy, Self.request(), .cancelledClean, .user) == .consumed)
        // However the run reacts when the operator stops it.
        for outcome in [
            Outcome.killed(.graceExceeded), .killed(.memory), .failed, .crashed(.signalled(11)),
            .lost,
        ] {
            #expect(Self.next(policy, Self.request(), outcome, .user) == .consumed)
        }
    }

    @Test(arguments: unsuccessful + [(.lost, nil), (.cancelledClean, .drain)])
    func `A manual run is not retried`(outcome: Outcome, reason: StopReason?) {
        let request = Self.request(isManual: true)
        #expect(Self.next(Self.exponential, request, outcome, reason) == .consumed)
    }

    static let interruptions: [(outcome: Outcome, reason: StopReason?)] = [
        (.cancelledClean, .drain), (.killed(.graceExceeded), .drain),
        (.cancelledClean, .condition), (.lost, nil),
    ]

    /// The daemon stops, or the power goes: no fault of the request's, however often.
    @Test(
        arguments: [RetryPolicy(backoff: .none), Self.exponential],
        Self.interruptions
    )
    func `An interruption is always repeated and not counted`(
        policy: RetryPolicy,
        end: (outcome: Outcome, reason: StopReason?)
    ) {
        let tried = Self.request(AttemptCounters(failures: 1, losses: 2, interruptions: 900))
        var expected = tried
        expected.counters.interruptions = 901
        #expect(Self.next(policy, tried, end.outcome, end.reason) == .again(expected))
        #expect(expected.attempt == 905)
    }

    @Test func `The delay doubles up to its cap`() {
        for (failures, seconds) in [(0, 30), (1, 60), (2, 100), (3, 100)] {
            let tried = Self.request(AttemptCounters(failures: failures))
            var expected = tried
            expected.counters.failures += 1
            expected.earliestBegin = 1_000 + Int64(seconds) * 1_000_000_000 - 1
            #expect(Self.next(Self.exponential, tried, .failed) == .again(expected))
        }
    }

    @Test func `The delay is random up to its bound`() throws {
        var random = SeededGenerator(seed: 7)
        var seen: Set<Int64> = []
        for _ in 0..<200 {
            let next = Self.exponential.next(
                Self.request(),
                after: RetryPolicy.End(outcome: .failed),
                now: 0
            ) { UInt64.random(in: 0..<$0, using: &random) }
            guard case .again(let request) = next else {
                Issue.record("it is not repeated")
                return
            }
            let due = try #require(request.earliestBegin)
            #expect((0..<30_000_000_000).contains(due))
            seen.insert(due / 3_000_000_000)
        }
        #expect(seen.count == 10)
    }

    @Test func `The delay of the handler has precedence`() {
        var expected = Self.request(AttemptCounters(failures: 1))
        expected.earliestBegin = 1_005
        #expect(
            Self.next(Self.exponential, Self.request(), .failed, retryAfter: 5) == .again(expected)
        )
        expected.earliestBegin = .max
        #expect(
            Self.next(Self.exponential, Self.request(), .failed, retryAfter: .max)
                == .again(expected)
        )
    }

    @Test func `A request that fails too often is dead`() {
        let tried = Self.request(AttemptCounters(failures: 4, losses: 2, interruptions: 9))
        var expected = tried
        expected.counters.failures = 5
        #expect(
            Self.next(Self.exponential, tried, .failed)
                == .dead(expected, reason: "it failed 5 times")
        )
    }

    @Test(arguments: [Outcome.crashed(.signalled(11)), .crashed(.exited(1))])
    func `A request that kills its worker too often is dead`(outcome: Outcome) {
        let tried = Self.request(AttemptCounters(failures: 1, losses: 2))
        var expected = tried
        expected.counters.losses = 3
        #expect(
            Self.next(Self.exponential, tried, outcome)
                == .dead(expected, reason: "its worker died 3 times")
        )
    }

    /// A plugin in the daemon that crashes takes the daemon with it, each time that it starts.
    @Test func `A request that kills the daemon too often is dead`() {
        let tried = Self.request(AttemptCounters(losses: 2))
        guard case .dead = Self.next(Self.exponential, tried, .lost, wasInDaemon: true) else {
            Issue.record("it is tried for ever")
            return
        }
    }

    /// The same memory would be too little again.
    @Test func `A run killed for memory is not retried`() {
        guard
            case .dead(let request, _) = Self.next(
                Self.exponential,
                Self.request(),
                .killed(.memory),
                .quota
            )
        else {
            Issue.record("it is repeated")
            return
        }
        #expect(request == Self.request())
    }

    /// It has begun in time; otherwise a short deadline would forbid retries.
    @Test(arguments: [(Outcome.failed, 1), (.lost, 0)])
    func `A repeated request has no latest date`(outcome: Outcome, failures: Int) {
        let request = Self.request(latest: 1_000)
        guard case .again(let again) = Self.next(Self.exponential, request, outcome) else {
            Issue.record("it is not repeated")
            return
        }
        #expect(again.latestBegin == nil && again.counters.failures == failures)
    }

    @Test func `A request that could not begin keeps its latest date`() {
        func next(latest: Int64, _ outcome: Outcome) -> AfterRun {
            let end = RetryPolicy.End(outcome: outcome, hasBegun: false)
            let request = Self.request(latest: latest)
            return Self.exponential.next(request, after: end, now: 1_000) { $0 - 1 }
        }
        guard case .again(let again) = next(latest: 1_000, .lost) else {
            Issue.record("it does not wait")
            return
        }
        #expect(again.latestBegin == 1_000)
        guard case .dead = next(latest: 30_000_000_000, .failed) else {
            Issue.record("it is repeated too late")
            return
        }
        guard case .again = next(latest: 31_000_001_000, .failed) else {
            Issue.record("it is not repeated although there is time")
            return
        }
    }

    @Test func `No delay overflows`() {
        let policy = RetryPolicy(
            backoff: .exponential(base: .seconds(Int64.max), cap: .seconds(Int64.max)),
            attemptsMax: .max,
            lossesMax: .max
        )
        let tried = Self.request(AttemptCounters(failures: 10_000))
        let end = RetryPolicy.End(outcome: .failed)
        guard
            case .again(let request) = policy.next(tried, after: end, now: .max, random: { $0 - 1 })
        else {
            Issue.record("it is not repeated")
            return
        }
        #expect(request.earliestBegin == .max)
    }
}
