// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFleetRules
import BghostFleetSupport
import BghostModel
import BghostPolicy
import BghostTestSupport

/// Random transitions of requests, each possible after the ones before.
struct FleetHistory {
    static let partitions: UInt16 = 4
    /// The kinds of transitions in a long history.
    static let kinds = 12

    private typealias Step = (kind: String, change: StoreChange, task: String)

    private enum State {
        case pending
        case leased(RunRecord)
        case dead
    }

    private static let tasks = (0..<6).map { "task-\($0)" }

    private var random: SeededGenerator
    private var requests: [RunID: (request: Request, state: State)] = [:]
    private var ids = 0
    private var epoch: UInt64 = 0
    private(set) var kindsSeen: Set<String> = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func count(upTo most: Int) -> Int { Int.random(in: 0...most, using: &random) }

    mutating func next() -> (change: StoreChange, partition: PartitionID) {
        while true {
            guard let (kind, change, task) = attempt() else { continue }
            kindsSeen.insert(kind)
            return (change, PartitionID(of: task, partitions: Self.partitions))
        }
    }

    private mutating func attempt() -> Step? {
        switch Int.random(in: 0..<14, using: &random) {
        case 0..<4: return accept()
        case 4..<7: return start()
        case 7..<10: return end()
        case 10: return leave()
        case 11: return move()
        case 12: return remember()
        default: return Bool.random(using: &random) ? redrive() : discard()
        }
    }

    private mutating func pick(_ isWanted: (State) -> Bool) -> (request: Request, state: State)? {
        let found = requests.values.filter { isWanted($0.state) }
            .sorted { $0.request.id < $1.request.id }
        return found.randomElement(using: &random)
    }

    private mutating func somePending() -> Request? {
        pick { if case .pending = $0 { true } else { false } }?.request
    }

    private mutating func someDead() -> Request? {
        pick { if case .dead = $0 { true } else { false } }?.request
    }

    private mutating func nextID() -> Int {
        ids += 1
        return ids
    }

    private mutating func accept() -> Step? {
        guard let task = Self.tasks.randomElement(using: &random) else { return nil }
        var request = FleetSample.request(nextID(), task: task)
        request.isManual = Int.random(in: 0..<5, using: &random) == 0
        let first = requests.values.first {
            guard case .pending = $0.state else { return false }
            return $0.request.task == task && !$0.request.isManual && !$0.request.isRetry
        }
        let replaced = request.isManual ? nil : first?.request.id
        if let replaced { requests[replaced] = nil }
        requests[request.id] = (request, .pending)
        return (
            replaced == nil ? "accepted" : "replaced", .accepted(request, replacing: replaced), task
        )
    }

    private mutating func start() -> Step? {
        guard let request = somePending() else { return nil }
        epoch += 1
        let run = FleetSample.run(nextID(), of: request, epoch: epoch)
        requests[request.id] = (request, .leased(run))
        return ("started", .runStarted(run), request.task)
    }

    private mutating func end() -> Step? {
        guard let found = pick({ if case .leased = $0 { true } else { false } }),
            case .leased(let run) = found.state
        else { return nil }
        var request = found.request
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            requests[request.id] = nil
            return ("consumed", .runEnded(FleetSample.ended(run), then: .consumed), request.task)
        case 1:
            request.counters.failures += 1
            requests[request.id] = (request, .pending)
            let ended = FleetSample.ended(run, .failed)
            return ("again", .runEnded(ended, then: .again(request)), request.task)
        default:
            requests[request.id] = (request, .dead)
            let ended = FleetSample.ended(run, .failed)
            let next = AfterRun.dead(request, reason: "reason \(run.epoch)")
            return ("died", .runEnded(ended, then: next), request.task)
        }
    }

    private mutating func leave() -> Step? {
        guard let request = somePending() else { return nil }
        requests[request.id] = nil
        return ("closed", .closed(request.id, .cancelled), request.task)
    }

    private mutating func move() -> Step? {
        guard var request = somePending() else { return nil }
        request.earliestBegin = Int64.random(in: 0...99, using: &random)
        requests[request.id] = (request, .pending)
        return ("moved", .moved(request), request.task)
    }

    private mutating func remember() -> Step? {
        guard let task = Self.tasks.randomElement(using: &random) else { return nil }
        let isEmpty = Int.random(in: 0..<4, using: &random) == 0
        let time = Int64.random(in: 0...99, using: &random)
        let memory = TaskMemory(identifier: task, lastServedTime: isEmpty ? nil : time)
        return (isEmpty ? "forgotten" : "remembered", .remembered(memory), task)
    }

    private mutating func redrive() -> Step? {
        guard let request = someDead() else { return nil }
        let redriven = request.redriven(now: 100)
        requests[request.id] = (redriven, .pending)
        return ("redriven", .redriven(redriven), request.task)
    }

    private mutating func discard() -> Step? {
        guard let request = someDead() else { return nil }
        requests[request.id] = nil
        return ("discarded", .discarded(request.id), request.task)
    }
}
