// SPDX-License-Identifier: Apache-2.0

@testable import BghostBase
import BghostCalendar
import BghostModel
@testable import BghostPolicy
import BghostSimulation
import BghostTestSupport
import Testing

/// Starts that one host of the fleet serves, with the fleet's answers given by hand.
@Suite struct FleetGateTests {
    private typealias Hand = SchedulerHand

    /// A scheduler with a task at each full minute, one second before one of them.
    ///
    /// - Parameter others: a family without a schedule, of which many requests may wait.
    private func hand(
        retry: RetryPolicy? = nil,
        overlap: Overlap = .queue,
        others: String? = nil
    ) throws -> Hand {
        var manifest = try Hand.manifest("report") { task in
            let minutely = try? CalendarExpression("* * * * *")
            task.schedule = minutely.map {
                TaskSchedule(times: .calendar($0, zone: .utc, gap: .shift, fold: .first))
            }
            task.isOnceInFleet = true
            task.overlap = overlap
            if let retry { task.retry = retry }
        }
        if let others {
            manifest.plugins[0].maxPending = PendingLimits(refresh: 1 << 20, processing: 1 << 20)
            manifest.tasks += try Hand.manifest(others).tasks
        }
        try #require(manifest.tasks[0].schedule != nil)
        var hand = Hand(manifest, at: Hand.noon - Hand.second)
        lose(&hand)
        return hand
    }

    private func lose(_ hand: inout Hand, _ reason: String = "no server") {
        hand.perform { $0.fleetLost(reason, now: $1, &$2) }
    }

    /// Renews the lease for a duration from now.
    private func renew(_ hand: inout Hand, for nanoseconds: Int64 = 15 * Hand.second) {
        hand.perform { scheduler, now, effects in
            let end = now.sinceBoot + UInt64(nanoseconds)
            scheduler.fleetRenewed(until: end, now: now, &effects)
        }
    }

    private func answer(_ hand: inout Hand, _ answer: FleetAnswer) throws {
        let claim = try #require(hand.claimed.last)
        hand.perform { $0.fleetAnswered(claim, answer, now: $1, &$2) }
    }

    /// Plays what happened again: what is decided is the same.
    private func expectTheSame(_ hand: Hand) throws {
        var replay = SchedulerReplay(Hand.settings(hand.scheduler.settings.manifest))
        try hand.expectTheSame(of: &replay)
    }

    private func gate(_ hand: Hand) throws -> Gate {
        try #require(hand.gate(.fleet, of: "report"))
    }

    @Test func `A start begins when this host has claimed it and not before`() throws {
        var hand = try hand()
        renew(&hand)
        #expect(hand.claimed.isEmpty)
        #expect(try gate(hand).isOpen)
        hand.pass(Hand.second)
        let claim = try #require(hand.claimed.first)
        #expect(claim.task == "report" && claim.slot == Hand.noon && hand.claimed.count == 1)
        #expect(hand.running.isEmpty)
        #expect(try gate(hand).now.contains("has asked"))
        try answer(&hand, .claimed)
        #expect(hand.running == ["report"])
        try hand.end(after: Hand.second)
        #expect(hand.released.count == 1)
        #expect(hand.released.first?.claim == claim)
        #expect(hand.released.first?.release == .served)
        try expectTheSame(hand)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A claim looks at its own task among a hundred thousand identifiers`() throws {
        var hand = try hand(others: "job.*")
        let later = hand.now.unix + Hand.day
        for number in 0..<100_000 {
            try hand.submit(Submission(task: "job.\(number)", earliestBegin: later))
        }
        renew(&hand)
        hand.perform { scheduler, now, effects in
            scheduler.pluginLoaded(0, serial: [], now: now, &effects)
        }
        func work() -> Int {
            hand.scheduler.pendingIndex.entriesVisited + hand.scheduler.pendingIndex.rechecks
        }
        let before = work()
        hand.pass(Hand.second)
        try answer(&hand, .claimed)
        #expect(hand.running == ["report"])
        #expect(work() - before <= 20, "\(work() - before)")
        // A renewal compares each open claim that does not wait with the runs in progress.
        let beforeRenewal = work()
        let compared = hand.scheduler.claimComparisons
        renew(&hand)
        #expect(work() - beforeRenewal <= 10, "\(work() - beforeRenewal)")
        #expect(hand.scheduler.claimComparisons - compared == 1)
        try hand.end(after: Hand.second)
    }

    @Test func `A drained host waits, asks with each renewal, and says why`() throws {
        var hand = try hand()
        renew(&hand)
        hand.pass(Hand.second)
        try answer(&hand, .drained)
        #expect(hand.running.isEmpty && hand.claimed.count == 1)
        let gate = try gate(hand)
        #expect(!gate.isOpen && gate.now.contains("has drained this host"), "\(gate)")
        #expect(gate.remedy.contains("bghost fleet undrain"))
        renew(&hand)
        #expect(hand.claimed.count == 2)
        try answer(&hand, .drained)
        // The drain ends.
        renew(&hand)
        #expect(hand.claimed.count == 3)
        try answer(&hand, .claimed)
        #expect(hand.running == ["report"])
        try hand.end(after: Hand.second)
        #expect(hand.released.map(\.release) == [.served])

        // Another host serves the next one, of which this host never had the claim.
        hand.pass(60 * Hand.second)
        renew(&hand)
        try answer(&hand, .drained)
        renew(&hand)
        try answer(&hand, .served(by: "web-2"))
        #expect(hand.running.isEmpty && hand.released.count == 1)
        try expectTheSame(hand)
    }

    @Test func `A start that another host has served is closed with its name`() throws {
        var hand = try hand()
        renew(&hand)
        hand.pass(Hand.second)
        let request = try #require(hand.claimed.first?.request)
        try answer(&hand, .served(by: "web-2"))
        #expect(hand.running.isEmpty)
        #expect(hand.ends == [request: .servedElsewhere])
        let skipped = try #require(hand.skipped.last)
        #expect(skipped.kind == .servedElsewhere && skipped.cause == "web-2")
        #expect(skipped.due == Hand.noon)
        #expect(hand.released.isEmpty)
        // The next time of the calendar is pending, and not the same one again.
        #expect(hand.pending.values.map(\.scheduledTime) == [Hand.noon + 60 * Hand.second])
        try expectTheSame(hand)
    }

    @Test func `A start that another host serves waits and is claimed again at each renewal`()
        throws
    {
        var hand = try hand()
        renew(&hand)
        hand.pass(Hand.second)
        try answer(&hand, .taken(by: "web-2"))
        #expect(hand.running.isEmpty && hand.ends.isEmpty)
        #expect(try gate(hand).now == "host `web-2` serves this start")
        renew(&hand)
        #expect(hand.claimed.count == 2)
        // Its host died, so this one has taken it over.
        try answer(&hand, .claimed)
        #expect(hand.running == ["report"])
        try expectTheSame(hand)
    }

    @Test func `Without a lease nothing begins and the reason is shown`() throws {
        var hand = try hand()
        hand.pass(Hand.second)
        #expect(hand.claimed.isEmpty && hand.running.isEmpty)
        let gate = try gate(hand)
        #expect(!gate.isOpen && gate.now == "no valid lease in the fleet: no server")
        renew(&hand)
        #expect(hand.claimed.count == 1)
        try answer(&hand, .claimed)
        #expect(hand.running == ["report"])
        try expectTheSame(hand)
    }

    @Test func `A claim without an answer is made again`() throws {
        var hand = try hand()
        renew(&hand)
        hand.pass(Hand.second)
        try answer(&hand, .unknown)
        #expect(hand.running.isEmpty)
        renew(&hand)
        #expect(hand.claimed.count == 2)
        try answer(&hand, .claimed)
        #expect(hand.running == ["report"])
    }

    @Test func `A claim from before the end of the lease begins nothing`() throws {
        var hand = try hand()
        renew(&hand, for: 2 * Hand.second)
        hand.pass(Hand.second)
        // The answer comes after the lease has ended, which no event has told yet.
        hand.skip(2 * Hand.second)
        try answer(&hand, .claimed)
        #expect(hand.running.isEmpty)
        renew(&hand)
        #expect(hand.claimed.count == 2)
        try answer(&hand, .taken(by: "web-2"))
        #expect(hand.running.isEmpty)
    }

    @Test(arguments: [false, true])
    func `A run is stopped at the end of the lease`(isNoticedLate: Bool) throws {
        var hand = try hand()
        renew(&hand)
        hand.pass(Hand.second)
        try answer(&hand, .claimed)
        let handle = try #require(hand.begun.first?.handle)
        if isNoticedLate {
            hand.skip(20 * Hand.second)
            renew(&hand)
        } else {
            lose(&hand)
        }
        #expect(hand.stopped == [handle])
        #expect(hand.released.isEmpty)
        try expectTheSame(hand)
    }

    @Test func `A retry needs the claim too`() throws {
        var hand = try hand(
            retry: RetryPolicy(backoff: .exponential(base: .seconds(1), cap: .seconds(1)))
        )
        renew(&hand, for: Hand.hour)
        hand.pass(Hand.second)
        try answer(&hand, .claimed)
        let request = try #require(hand.claimed.first?.request)
        try hand.end(after: Hand.second, .failed)
        #expect(hand.released.isEmpty)
        lose(&hand)
        hand.pass(5 * Hand.second)
        #expect(hand.running.isEmpty)
        renew(&hand, for: Hand.hour)
        let again = try #require(hand.claimed.last)
        #expect(again.request == request && again.slot == Hand.noon)
        try answer(&hand, .served(by: "web-2"))
        #expect(hand.ends[request] == .servedElsewhere && hand.running.isEmpty)
        try expectTheSame(hand)
    }

    @Test func `A request that is withdrawn frees its start for the others`() throws {
        var hand = try hand()
        renew(&hand)
        hand.pass(Hand.second)
        let claim = try #require(hand.claimed.first)
        hand.perform { _ = $0.withdraw("report", now: $1, &$2) }
        // The answer comes after the withdrawal.
        hand.perform { $0.fleetAnswered(claim, .claimed, now: $1, &$2) }
        #expect(hand.running.isEmpty)
        #expect(hand.released.allSatisfy { $0.claim == claim && $0.release == .free })
        #expect(!hand.released.isEmpty)
        try expectTheSame(hand)
    }

    @Test func `A manual run and a submission need no claim`() throws {
        var hand = try hand()
        try hand.trigger("report")
        #expect(hand.running == ["report"] && hand.claimed.isEmpty)
    }

    @Test func `After a restart what waits is claimed again and the rest has ended`() throws {
        var hand = try hand()
        renew(&hand)
        hand.pass(Hand.second)
        let kept = try #require(hand.claimed.first)
        try answer(&hand, .unknown)
        let gone = FleetClaim(
            task: "report",
            slot: Hand.noon - Hand.hour,
            request: RunID(high: 1, low: 1)
        )
        hand.perform { $0.fleetClaims([gone, kept], now: $1, &$2) }
        #expect(hand.released.map(\.claim) == [gone])
        #expect(hand.released.first?.release == .served)
        renew(&hand)
        #expect(hand.claimed.last == kept)
        try expectTheSame(hand)
    }
}
