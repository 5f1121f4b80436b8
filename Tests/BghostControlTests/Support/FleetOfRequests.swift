// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFleetRules
import BghostFleetSupport
import BghostModel
import BghostPolicy
import Testing

/// A fleet whose host web-17 has requests.
///
/// `mail.0` waits, `mail.1` runs and is cancelled, `mail.3` is dead. The submission of `mail.2` waits in a partition
/// without an owner.
enum FleetOfRequests {
    static let requests = (0...3).map { FleetSample.request($0 + 1, task: "mail.\($0)") }

    static func made() throws -> MemoryFleet {
        var fleet = MemoryFleet(partitions: PartitionID.count, clock: 1_795_262_400_000_000_000)
        let terms = HostTerms(name: "web-17", lease: 60 * FleetSample.lease, slots: 4)
        let first = try fleet.register(
            terms,
            after: fleet.incarnation(of: terms.name),
            nonce: FenceNonce(stored: 1)
        )
        let session = try fleet.claim(
            holding: [],
            mayReap: false,
            nonce: FenceNonce(stored: 2),
            first
        ).session
        let run = FleetSample.run(11, of: requests[1], epoch: 5)
        let last = FleetSample.run(13, of: requests[3], epoch: 6)
        let failed = FleetSample.ended(last, .failed)
        var number: Int64 = 0
        for (index, changes) in [
            (0, []), (1, [.runStarted(run)]),
            (
                3,
                [
                    .runStarted(last),
                    .runEnded(failed, then: .dead(requests[3], reason: "it failed 5 times")),
                ]
            ),
        ] as [(Int, [StoreChange])] {
            var changes = changes
            changes.insert(.accepted(requests[index], replacing: nil), at: 0)
            var fold = BatchFold()
            try #require(try fold.add(changes, in: partition(index)).isEmpty)
            number += 1
            try #require(try fleet.commit(fold.take(), number: number, session) == fleet.clock)
        }
        try fleet.release([partition(2)], session)
        try fleet.post([FleetLetter(requests[2], .append)])
        try #require(fleet.cancel(requests[1].id)?.isNew == true)
        return fleet
    }

    private static func partition(_ index: Int) -> PartitionID {
        PartitionID(of: requests[index].task, partitions: PartitionID.count)
    }
}
