// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFleetRules
import BghostFleetSupport
import BghostTestSupport
import Testing

@Suite struct HostLeaseTests {
    /// A lease of 10 s on a clock that the test moves; calls are answered at once unless a test says when.
    private struct Hand {
        /// The registration whose calls are answered.
        var registration = FleetSample.fence(1)
        var lease = HostLease(length: FleetSample.lease)

        func at(_ seconds: Double) -> MonotonicInstant { FleetSample.instant(seconds) }

        mutating func register(_ sent: Double, answered: Double? = nil) -> [HostLease.Effect] {
            var effects: [HostLease.Effect] = []
            lease.registered(
                registration,
                sentAt: at(sent),
                now: at(answered ?? sent),
                &effects
            )
            return effects
        }

        mutating func answer(_ sent: Double, at now: Double) -> [HostLease.Effect] {
            var effects: [HostLease.Effect] = []
            lease.answered(registration, sentAt: at(sent), now: at(now), &effects)
            return effects
        }

        mutating func pass(to now: Double) -> [HostLease.Effect] {
            var effects: [HostLease.Effect] = []
            lease.timePassed(now: at(now), &effects)
            return effects
        }

        mutating func refuse() -> [HostLease.Effect] {
            var effects: [HostLease.Effect] = []
            lease.refused(registration, &effects)
            return effects
        }
    }

    @Test func `Outside it may do nothing and has no deadline`() {
        var hand = Hand()
        #expect(hand.lease.state == .outside)
        #expect(!hand.lease.mayStart(now: hand.at(0)))
        #expect(hand.lease.nextDeadline == .never)
        #expect(hand.pass(to: 100).isEmpty && hand.answer(99, at: 100).isEmpty)
        hand.lease.leave()
        #expect(hand.refuse().isEmpty && hand.lease.state == .outside)
    }

    @Test func `An unanswered lease ends in steps`() {
        var hand = Hand()
        #expect(hand.register(100).isEmpty)
        #expect(hand.lease.state == .member)
        #expect(hand.lease.nextDeadline == hand.at(102))
        #expect(hand.pass(to: 101.9).isEmpty)
        #expect(hand.pass(to: 102) == [.renew])
        #expect(hand.pass(to: 104) == [.renew])
        #expect(hand.lease.nextDeadline == hand.at(106))
        #expect(hand.lease.mayStart(now: hand.at(105.9)))
        #expect(hand.pass(to: 106) == [.stopExclusive, .renew])
        #expect(hand.lease.state == .waning)
        #expect(hand.lease.nextDeadline == hand.at(107.7))
        #expect(hand.pass(to: 107.7) == [.killExclusive])
        #expect(hand.lease.state == .standingDown)
        #expect(hand.pass(to: 108.3) == [.sever, .renew])
        #expect(hand.lease.state == .severed)
        #expect(hand.pass(to: 200) == [.renew])
        #expect(hand.lease.state == .severed)
    }

    /// A starved process gets its timers late: the question itself looks at the clock.
    @Test func `No run starts after the deadline, also without a timer`() {
        var hand = Hand()
        hand.lease.sent(at: hand.at(104))
        #expect(hand.register(100).isEmpty)
        #expect(hand.lease.mayStart(now: hand.at(105.999)))
        #expect(!hand.lease.mayStart(now: hand.at(106)))
        #expect(hand.lease.state == .member)
    }

    @Test func `A late timer takes all steps in their order`() {
        var hand = Hand()
        #expect(hand.register(100).isEmpty)
        #expect(hand.pass(to: 500) == [.stopExclusive, .killExclusive, .sever, .renew])
    }

    @Test(arguments: [106.0, 107.7, 108.3, 400.0])
    func `An answer brings the lease back`(late: Double) {
        var hand = Hand()
        #expect(hand.register(100).isEmpty)
        #expect(!hand.pass(to: late).isEmpty)
        hand.lease.sent(at: hand.at(late))
        #expect(hand.answer(late, at: late + 1) == [.restore])
        #expect(hand.lease.state == .member && hand.lease.mayStart(now: hand.at(late + 1)))
        #expect(!hand.lease.mayStart(now: hand.at(late + 6)))
    }

    @Test func `A renewed lease has no effect and no end`() {
        var hand = Hand()
        #expect(hand.register(100).isEmpty)
        for step in 1...100 {
            let now = 100 + Double(step) * 1.5
            hand.lease.sent(at: hand.at(now))
            #expect(hand.answer(now, at: now).isEmpty)
        }
        #expect(hand.lease.state == .member)
        #expect(hand.lease.nextDeadline == hand.at(252))
    }

    /// The store counts from the arrival, the host from the sending: a slow answer is an old one.
    @Test func `The lease counts from the sending`() {
        var hand = Hand()
        #expect(hand.register(100, answered: 107) == [.stopExclusive, .renew])
        #expect(!hand.lease.mayStart(now: hand.at(107)))
        #expect(hand.answer(100.5, at: 107.1).isEmpty)
        #expect(hand.lease.state == .waning)
        #expect(hand.answer(103, at: 107.2) == [.restore])
        #expect(hand.lease.mayStart(now: hand.at(108.9)))
        #expect(!hand.lease.mayStart(now: hand.at(109)))
    }

    @Test func `An old answer does not shorten the lease`() {
        var hand = Hand()
        #expect(hand.register(100).isEmpty)
        #expect(hand.answer(103, at: 103).isEmpty)
        #expect(hand.answer(101, at: 104).isEmpty)
        #expect(hand.lease.mayStart(now: hand.at(108.9)))
    }

    @Test func `A severed lease that wanes again goes through the steps again`() {
        var hand = Hand()
        #expect(hand.register(100).isEmpty)
        #expect(hand.pass(to: 109) == [.stopExclusive, .killExclusive, .sever, .renew])
        #expect(hand.answer(102, at: 109).isEmpty)
        #expect(hand.lease.state == .waning)
        #expect(hand.pass(to: 109.7) == [.killExclusive])
        #expect(hand.pass(to: 110.3) == [.sever])
    }

    @Test(arguments: [100.0, 106.5, 109.0])
    func `A refusal ends everything once`(when: Double) {
        var hand = Hand()
        #expect(hand.register(100).isEmpty)
        #expect(hand.pass(to: when).isEmpty == (when == 100))
        #expect(hand.refuse() == [.killAll])
        #expect(hand.lease.state == .outside && !hand.lease.mayStart(now: hand.at(when)))
        #expect(hand.refuse().isEmpty && hand.pass(to: 200).isEmpty)
        // An answer from before says nothing about the next registration.
        #expect(hand.answer(when, at: 200).isEmpty && hand.lease.state == .outside)
        #expect(hand.register(200).isEmpty)
        #expect(hand.lease.state == .member && hand.lease.mayStart(now: hand.at(200)))
    }

    /// After the store went back, the counter of a registration repeats: only the nonce tells them apart.
    @Test(arguments: [FleetSample.fence(2, nonce: 1), FleetSample.fence(1, nonce: 2)])
    func `Answers to calls of another registration change nothing`(other: FenceNumber) {
        var hand = Hand()
        hand.registration = other
        #expect(hand.register(90).isEmpty && hand.refuse() == [.killAll])
        hand.registration = FleetSample.fence(1)
        #expect(hand.register(100).isEmpty)
        hand.registration = other
        #expect(hand.refuse().isEmpty && hand.lease.state == .member)
        #expect(hand.answer(104, at: 104).isEmpty)
        #expect(!hand.lease.mayStart(now: hand.at(106)))
        hand.registration = FleetSample.fence(1)
        #expect(hand.answer(104, at: 104).isEmpty)
        #expect(hand.lease.mayStart(now: hand.at(106)))
        #expect(hand.refuse() == [.killAll])
    }

    @Test func `A host that leaves starts nothing and goes on renewing`() {
        var hand = Hand()
        #expect(hand.register(100).isEmpty)
        hand.lease.leave()
        #expect(hand.lease.state == .leaving && !hand.lease.mayStart(now: hand.at(100)))
        #expect(hand.pass(to: 102) == [.renew])
        #expect(hand.answer(102, at: 102).isEmpty)
        #expect(hand.lease.state == .leaving)
        #expect(hand.pass(to: 108) == [.stopExclusive, .renew])
        #expect(hand.lease.state == .waning)
        // Runs do not start again because of a late answer.
        #expect(hand.answer(108, at: 108).isEmpty)
        #expect(hand.lease.state == .leaving && !hand.lease.mayStart(now: hand.at(108)))
        hand.lease.left()
        #expect(hand.lease.state == .outside && hand.pass(to: 120).isEmpty)
    }

    /// Whatever happens, a run starts only within 60 % of the lease after the sending of an answered call.
    @Test(arguments: SeededGenerator.seeds(30))
    func `Starts are within the lease of the store`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var lease = HostLease(length: FleetSample.lease)
        var now = MonotonicInstant(nanoseconds: FleetSample.second)
        var effects: [HostLease.Effect] = []
        var sent: [MonotonicInstant] = []
        var newest: MonotonicInstant?
        let registration = FleetSample.fence(1)
        for _ in 0..<2_000 {
            now += UInt64.random(in: 0...3 * FleetSample.second, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                lease.sent(at: now)
                sent.append(now)
            case 4..<7:
                guard lease.state != .outside, let call = sent.randomElement(using: &random) else {
                    continue
                }
                lease.answered(registration, sentAt: call, now: now, &effects)
                newest = max(newest ?? call, call)
            case 7: lease.timePassed(now: now, &effects)
            case 8:
                lease.refused(registration, &effects)
                newest = nil
                sent = []
            default:
                guard lease.state == .outside else { continue }
                lease.registered(registration, sentAt: now, now: now, &effects)
                newest = now
            }
            if lease.mayStart(now: now) {
                #expect(newest.map { now.since($0) < FleetSample.lease / 10 * 6 } ?? false)
            }
            if lease.nextDeadline <= now { lease.timePassed(now: now, &effects) }
            #expect(lease.nextDeadline > now)
        }
    }
}
