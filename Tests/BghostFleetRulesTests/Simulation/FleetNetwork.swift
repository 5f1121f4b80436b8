// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFleetRules
import BghostModel
import BghostPolicy

/// A call of a simulated host to the fleet's store.
indirect enum StoreCall {
    case look(name: String)
    case register(HostTerms, after: FenceNumber, FenceNonce)
    case resume(HostSession, FenceNonce)
    case batch(BatchQueue.Numbered, HostSession)
    case claim(holding: [PartitionID], mayReap: Bool, FenceNonce, HostSession)
    case release([PartitionID], HostSession)
    case read(PartitionGrant)
    case leave(HostSession)
}

/// The store's answer to a call.
indirect enum StoreAnswer {
    case found(FenceNumber)
    case registered(HostSession)
    case resumed(ResumedSession)
    case kept(storeClock: Int64)
    case claimed(ClaimAnswer)
    case released
    case contents(PartitionGrant, PartitionContents)
    case left
    case refused(FleetRefusal)
}

/// Who made a call: an answer to another process of the host, or to an earlier call, is dropped.
struct CallLabel: Equatable {
    let host: Int
    /// The number of the process of that host.
    let process: Int
    let number: Int
}

/// An event of the simulated fleet.
///
/// It is `indirect`, like calls and answers: the agenda moves each event some times.
indirect enum FleetEvent {
    /// A host may have something to do.
    case wake(host: Int)
    case arrival(CallLabel, StoreCall)
    case answer(CallLabel, StoreAnswer)
    case runEnds(host: Int, process: Int, PartitionID, RunHandle, RunID)
    case submission
    case fault
    case restart(host: Int)
    /// The store is copied to a standby.
    case standby
}

/// Events in the order of their times; those of one time in the order in which they were added.
struct FleetAgenda {
    private var heap: [(at: Int64, order: Int, event: FleetEvent)] = []
    private var count = 0

    var next: Int64? { heap.first?.at }

    mutating func add(_ event: FleetEvent, at: Int64) {
        heap.append((at, count, event))
        count += 1
        var child = heap.count - 1
        while child > 0, isBefore(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func pop() -> (at: Int64, event: FleetEvent)? {
        guard let first = heap.first else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while 2 * parent + 1 < heap.count {
            var least = 2 * parent + 1
            if least + 1 < heap.count, isBefore(least + 1, least) { least += 1 }
            guard isBefore(least, parent) else { break }
            heap.swapAt(parent, least)
            parent = least
        }
        return (first.at, first.event)
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        if heap[left].at != heap[right].at { return heap[left].at < heap[right].at }
        return heap[left].order < heap[right].order
    }
}
