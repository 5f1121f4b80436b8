// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import BghostTransferBridge
import BghostTransferRules
import Testing

/// The ended transfers of a session: the answers of the table, and its work, counted.
@Suite struct EndedTransfersTests {
    private static func record(_ number: Int) -> TransferRecord {
        let request = TransferRequest(
            id: RunID(high: 2, low: UInt64(number)),
            plugin: "plugin",
            session: "photos",
            kind: .download,
            url: "http://127.0.0.1/\(number)",
            file: "/nonexistent/\(number)",
            createdAt: 1
        )
        return TransferRecord(
            request: request,
            key: "\(number)",
            point: TransferPoint(),
            status: TransferStatus(state: .done)
        )
    }

    @Test(arguments: SeededGenerator.seeds(4))
    func `The table has what was added and not removed, the oldest first`(seed: UInt64) {
        var source = SplitMix64(seed: seed)
        var ended = EndedTransfers()
        var begun = BegunTransfers()
        var model: Set<RunID> = []
        var awaited: Set<RunID> = []
        for _ in 0..<2000 {
            let record = Self.record(Int(source.next() % 40))
            let id = record.request.id
            switch source.next() % 5 {
            case 0, 1:
                ended.insert(record)
                model.insert(id)
            case 2:
                let wasThere = ended.remove(id)
                #expect(wasThere == (model.remove(id) != nil))
            case 3:
                begun.begin(id, by: 1)
                awaited.insert(id)
            default:
                begun.finished(id)
                awaited.remove(id)
            }
            #expect(ended.transfers.map(\.request.id) == model.sorted())
            #expect(ended.first == model.min() && ended.count == model.count)
            #expect(ended.contains(id) == model.contains(id))
            #expect(begun.mayBeAwaited(anyOf: ended) == !awaited.isDisjoint(with: model))
        }
    }

    @Test func `The cost of an end does not grow with the ends before it`() {
        let count = 10_000
        var ended = EndedTransfers()
        // In any order: servers are fast and slow.
        for number in 0..<count { ended.insert(Self.record(number * 7919 % count)) }
        #expect(ended.count == count && ended.visits <= 14 * count)
        let added = ended.visits
        var removed = 0
        for number in 0..<count {
            removed += ended.remove(RunID(high: 2, low: UInt64(number))) ? 1 : 0
        }
        #expect(removed == count && ended.isEmpty && ended.visits - added <= 14 * count)
    }
}
