// SPDX-License-Identifier: Apache-2.0

import BghostFacts
import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// The refresh status and the scheduler follow from one function.
@Suite struct PowerPolicyTests {
    private typealias Hand = SchedulerHand

    private func manifest(_ policy: PowerPolicy) throws -> Manifest {
        var manifest = try Hand.manifest("short", "long")
        manifest.tasks[1].kind = .processing
        manifest.host.powerPolicy = policy
        return manifest
    }

    private func report(_ value: FactValue?, _ hand: inout Hand) {
        hand.perform { scheduler, now, effects in
            var facts = FactSheet()
            let changed = facts.simulate(.batteryNotLow, as: value, now: now)
            scheduler.factsChanged(facts, changed.union(.batteryNotLow), now: now, &effects)
        }
    }

    @Test(
        arguments: [
            (.none, .fails, true), (.lowBattery, .fails, false), (.lowBattery, .holds, true),
            // An unreadable charge blocks nothing; otherwise machines without batteries would wait.
            (.lowBattery, .unknown, true), (.lowBattery, nil, true),
        ] as [(PowerPolicy, FactValue?, Bool)]
    )
    func `A refresh task starts only if the status is available`(
        policy: PowerPolicy,
        battery: FactValue?,
        starts: Bool
    ) throws {
        var hand = Hand(try manifest(policy))
        report(battery, &hand)
        try hand.submit(Submission(task: "short"))
        try hand.submit(Submission(task: "long"))
        #expect(hand.running == (starts ? ["short", "long"] : ["long"]))
        let status = hand.scheduler.backgroundRefreshStatus(ofPlugin: 0)
        #expect(status == (starts ? .available : .restricted(.lowBattery)))
        #expect(hand.closed("short") == (starts ? [] : [.requirement]))
        try hand.trigger("short")
        #expect(hand.running.contains("short"))
    }

    @Test func `A charged battery and another manifest let it start`() throws {
        for isReload in [true, false] {
            var hand = Hand(try manifest(.lowBattery))
            report(.fails, &hand)
            try hand.submit(Submission(task: "short"))
            #expect(hand.running.isEmpty)
            if isReload {
                hand.reload(try manifest(.none))
                hand.perform { $0.dispatch(now: $1, &$2) }
            } else {
                report(.holds, &hand)
            }
            #expect(hand.running == ["short"])
        }
    }

    @Test func `The battery is watched only if the manifest has the policy`() throws {
        #expect(!TaskCatalog(try manifest(.none)).requirements.contains(.batteryNotLow))
        #expect(TaskCatalog(try manifest(.lowBattery)).requirements.contains(.batteryNotLow))
    }
}
