// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// The pauses before retries and wakes, and a wall clock that is set in either direction.
@Suite struct RetryClockTests {
    private typealias Hand = SchedulerHand

    private static func manifest(_ tasks: [String], base: Int64 = 60) throws -> Manifest {
        var manifest = try Hand.manifest()
        for name in tasks {
            var task = TaskDefinition(
                identifier: try #require(IdentifierPattern(name)),
                handler: .plugin(name: "plugin", handler: name)
            )
            task.overlap = .allow
            task.retry = RetryPolicy(
                backoff: .exponential(base: .seconds(base), cap: .seconds(3600)),
                attemptsMax: 1000
            )
            manifest.tasks.append(task)
        }
        return manifest
    }

    /// A task whose run has failed, and how long its retry waits.
    private static func failed(_ manifest: Manifest) throws -> (Hand, wait: Int64) {
        var hand = Hand(manifest)
        try hand.submit(Submission(task: "fail"))
        try hand.end(after: 0, .failed)
        return (hand, try #require(Self.wait(hand)))
    }

    /// How long until the retry starts, by the clock that no one sets; `nil` if none waits.
    private static func wait(_ hand: Hand, _ task: String = "fail") -> Int64? {
        hand.scheduler.requests(of: task).first.map { ($0.earliestBegin ?? .min) - hand.now.unix }
    }

    @Test(arguments: [10 * Hand.hour, -10 * Hand.hour, 400 * Hand.day, -400 * Hand.day])
    func `A retry waits as long as if there had been no step`(step: Int64) throws {
        var (hand, wait) = try Self.failed(try Self.manifest(["fail"]))
        hand.setClock(hand.now.unix + step)
        #expect(hand.running.isEmpty)
        #expect(Self.wait(hand) == wait)
        hand.pass(wait - 1)
        #expect(hand.running.isEmpty)
        hand.pass(1)
        #expect(hand.running == ["fail"])
    }

    @Test(arguments: [10 * Hand.hour, -10 * Hand.hour])
    func `A moved retry date survives a restart`(step: Int64) throws {
        let manifest = try Self.manifest(["fail"])
        var (hand, wait) = try Self.failed(manifest)
        hand.setClock(hand.now.unix + step)
        hand.restart(manifest)
        #expect(Self.wait(hand) == wait)
        hand.pass(wait)
        #expect(hand.running == ["fail"])
    }

    @Test(arguments: [10 * Hand.hour, -10 * Hand.hour])
    func `A parked retry moves too`(step: Int64) throws {
        let manifest = try Self.manifest(["fail"])
        var (hand, wait) = try Self.failed(manifest)
        hand.reload(try Self.manifest([]))
        hand.setClock(hand.now.unix + step)
        hand.reload(manifest)
        #expect(Self.wait(hand) == wait)
    }

    @Test func `A step neither releases many retries at once nor holds one back`() throws {
        let names = (0..<100).map { "fail\($0)" }
        for step in [Hand.day, -Hand.day] {
            var hand = Hand(try Self.manifest(names), slots: 200)
            for name in names { try hand.submit(Submission(task: name)) }
            for _ in names { try hand.end(after: 0, .failed) }
            var waits: [String: Int64] = [:]
            for name in names { waits[name] = Self.wait(hand, name) }
            let start = hand.now.monotonic
            hand.setClock(hand.now.unix + step)
            #expect(hand.running.isEmpty)
            while hand.begun.count < names.count {
                let before = hand.begun.count
                hand.pass(Hand.second)
                let passed = Int64(hand.now.monotonic.since(start))
                for run in hand.begun.dropFirst(before) {
                    let wait = try #require(waits[run.record.task])
                    #expect((passed - Hand.second...passed).contains(wait), "\(wait) \(passed)")
                }
                try #require(passed < 61 * Hand.second)
            }
        }
    }

    @Test func `A requested date does not move with a clock step`() throws {
        var hand = Hand(try Self.manifest(["fail"]))
        let date = hand.now.unix + Hand.hour
        try hand.submit(Submission(task: "fail", earliestBegin: date))
        hand.setClock(hand.now.unix + Hand.hour / 2)
        #expect(hand.scheduler.requests(of: "fail").first?.earliestBegin == date)
        hand.setClock(date)
        #expect(hand.running == ["fail"])
    }

    @Test(arguments: [10 * Hand.hour, -10 * Hand.hour])
    func `A wake of a session moves with the clock`(step: Int64) throws {
        var manifest = try Hand.manifest()
        manifest.sessions = [SessionDefinition(name: "s", plugin: "plugin", handler: "wake")]
        var hand = Hand(manifest)
        try hand.wake("urlSession.s", after: 60 * Hand.second)
        hand.setClock(hand.now.unix + step)
        #expect(Self.wait(hand, "urlSession.s") == 60 * Hand.second)
        hand.pass(60 * Hand.second - 1)
        #expect(hand.running.isEmpty)
        hand.pass(1)
        #expect(hand.running == ["urlSession.s"])
    }

    /// After any sequence of steps, told or not, each retry comes within its pause and the step that
    /// is not noticed, and not before.
    @Test(.timeLimit(.minutes(5)), arguments: SeededGenerator.seeds(24))
    func `Every retry starts in time however the clock is set`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let manifest = try Self.manifest(["fail"])
        var (hand, wait) = try Self.failed(manifest)
        var due = Int64(hand.now.monotonic.nanoseconds) + wait
        let slack = ClockSteps.stepMin + Hand.second
        var retries = 0
        for _ in 0..<600 {
            let unix = hand.now.unix
            switch Int.random(in: 0..<12, using: &random) {
            case 0: hand.setClock(unix + Int64.random(in: -Hand.day...Hand.day, using: &random))
            case 1:
                let years = 400 * Hand.day
                hand.setClock(unix + Int64.random(in: -years...years, using: &random))
            case 2:
                let halves = Int64.random(in: -3...3, using: &random)
                hand.setClock(unix + halves * Hand.second / 2)
            case 3:
                hand.jump(to: unix + Int64.random(in: -Hand.day...Hand.day, using: &random))
                hand.perform { $0.timerFired(now: $1, &$2) }
            default: hand.pass(Int64.random(in: 0...Hand.second, using: &random))
            }
            let now = Int64(hand.now.monotonic.nanoseconds)
            guard !hand.begun.isEmpty else {
                try #require(now <= due + slack, "a retry is late")
                continue
            }
            try #require(now >= due - slack, "a retry is early")
            retries += 1
            try hand.end(after: 0, .failed)
            wait = try #require(Self.wait(hand))
            // Many are wanted: of the long ones only the first seconds are of interest.
            if wait > 20 * Hand.second { (hand, wait) = try Self.failed(manifest) }
            due = Int64(hand.now.monotonic.nanoseconds) + wait
        }
        #expect(retries > 0)
    }
}
