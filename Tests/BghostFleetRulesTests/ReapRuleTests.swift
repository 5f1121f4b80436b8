// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFleetRules
import BghostFleetSupport
import Testing

@Suite struct ReapRuleTests {
    private static let second = Int64(FleetSample.second)
    private static let start: Int64 = 1_795_219_200 * second

    /// Renewals at these times, seconds; the clock of the store is `start` and the second number.
    private static func rule(_ renewals: [(sent: Double, store: Double)]) -> ReapRule {
        var rule = ReapRule(lease: FleetSample.lease)
        for renewal in renewals {
            rule.renewed(
                sentAt: FleetSample.instant(renewal.sent),
                storeClock: start + Int64(renewal.store * Double(second))
            )
        }
        return rule
    }

    /// A renewal each 2 s, from 100 s on.
    private static func steady(until end: Int) -> [(sent: Double, store: Double)] {
        stride(from: 100, through: end, by: 2).map { (Double($0), Double($0) - 50) }
    }

    @Test func `A new host has to renew for more than a lease`() {
        #expect(!ReapRule(lease: FleetSample.lease).mayReap(now: FleetSample.instant(500)))
        #expect(!Self.rule(Self.steady(until: 110)).mayReap(now: FleetSample.instant(110)))
        #expect(Self.rule(Self.steady(until: 112)).mayReap(now: FleetSample.instant(112)))
    }

    @Test func `The last renewal must be fresh`() {
        let rule = Self.rule(Self.steady(until: 130))
        #expect(rule.mayReap(now: FleetSample.instant(132.5)))
        #expect(!rule.mayReap(now: FleetSample.instant(132.6)))
    }

    /// While the store did not answer, no host could renew; after that, none is dead.
    @Test func `A gap starts the time again`() {
        var renewals = Self.steady(until: 130)
        renewals += [(135.1, 85.1), (137, 87)]
        #expect(!Self.rule(renewals).mayReap(now: FleetSample.instant(137)))
        renewals += stride(from: 139.0, through: 145, by: 2).map { ($0, $0 - 50) }
        #expect(!Self.rule(renewals).mayReap(now: FleetSample.instant(145)))
        renewals += [(147, 97)]
        #expect(Self.rule(renewals).mayReap(now: FleetSample.instant(147)))
    }

    @Test func `Half of a lease is no gap`() {
        let renewals = Self.steady(until: 130) + [(135, 85)]
        #expect(Self.rule(renewals).mayReap(now: FleetSample.instant(135)))
    }

    @Test(arguments: [1.1, -1.1, 3600, -3600])
    func `A jump of the store's clock starts the time again`(jump: Double) {
        var renewals = Self.steady(until: 130)
        renewals += [(132, 82 + jump), (134, 84 + jump)]
        #expect(!Self.rule(renewals).mayReap(now: FleetSample.instant(134)))
        renewals += stride(from: 136.0, through: 144, by: 2).map { ($0, $0 - 50 + jump) }
        #expect(Self.rule(renewals).mayReap(now: FleetSample.instant(144)))
    }

    @Test(arguments: [0.6, -0.6])
    func `Small jumps of the store's clock add up`(jump: Double) {
        let renewals = Self.steady(until: 130) + [(132, 82 + jump), (134, 84 + 2 * jump)]
        #expect(!Self.rule(renewals).mayReap(now: FleetSample.instant(134)))
    }

    @Test(arguments: [0.9, -0.9])
    func `Clocks may differ a little`(jump: Double) {
        let renewals = Self.steady(until: 130) + [(132, 82 + jump)]
        #expect(Self.rule(renewals).mayReap(now: FleetSample.instant(132)))
    }

    @Test func `A refused host starts again`() {
        var rule = Self.rule(Self.steady(until: 130))
        rule.refused()
        #expect(!rule.mayReap(now: FleetSample.instant(130)))
        rule.renewed(sentAt: FleetSample.instant(131), storeClock: Self.start + 81 * Self.second)
        #expect(!rule.mayReap(now: FleetSample.instant(131)))
    }
}
