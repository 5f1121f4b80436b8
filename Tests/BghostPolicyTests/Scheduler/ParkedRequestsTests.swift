// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// The table of requests whose task is no longer in the manifest: its answers, and its work, counted.
@Suite(.timeLimit(.minutes(5))) struct ParkedRequestsTests {
    private static let noon = SchedulerHand.noon

    private static func request(_ number: Int, task: String, latest: Int64? = nil) -> Request {
        Request(
            id: RunID(high: 1, low: UInt64(number)),
            task: task,
            parameters: "{}",
            submittedAt: noon,
            latestBegin: latest,
            priority: 0
        )
    }

    /// As a list, which each question and each change walks.
    private struct Model {
        var requests: [Request] = []
        var since: [String: Int64] = [:]

        func end(_ request: Request) -> Int64 {
            let kept = (since[request.task] ?? .min).addingClamped(Parking.keptFor)
            guard let latest = request.latestBegin, !request.isManual else { return kept }
            return min(kept, latest + 1)
        }

        mutating func add(_ request: Request, now: Int64) -> Int64? {
            requests.append(request)
            if let since = since[request.task], since <= now { return nil }
            since[request.task] = now
            return now
        }

        mutating func remove(
            where isWanted: (Request) -> Bool
        ) -> (requests: [Request], emptied: [String]) {
            let removed = requests.filter(isWanted)
            requests.removeAll(where: isWanted)
            let left = Set(requests.map(\.task))
            let emptied = Set(removed.map(\.task)).subtracting(left).sorted()
            for task in emptied { since[task] = nil }
            return (removed, emptied)
        }
    }

    private static func check(_ parking: Parking, _ model: Model) {
        #expect(parking.requests == model.requests)
        #expect(parking.count == model.requests.count)
        #expect(parking.nextEnd == model.requests.map(model.end).min())
        for number in 0..<6 {
            let task = "t\(number)"
            let own = model.requests.filter { $0.task == task }
            #expect(parking.requests(of: task) == own)
            #expect(parking.has(task) == !own.isEmpty)
            #expect(parking.since(task) == model.since[task])
        }
        #expect(model.requests.allSatisfy { parking.end(of: $0) == model.end($0) })
    }

    @Test(arguments: SeededGenerator.seeds(8))
    func `The table answers as a list does`(seed: UInt64) {
        var source = SplitMix64(seed: seed)
        func number(_ bound: UInt64) -> Int { Int(source.next() % bound) }
        var parking = Parking()
        var model = Model()
        var now = Self.noon
        var last = 0
        for _ in 0..<1500 {
            let task = "t\(number(6))"
            switch number(12) {
            case 0:
                let id = RunID(high: 1, low: UInt64(number(UInt64(last + 2))))
                let (requests, changed) = parking.remove(id)
                let wanted = model.remove { $0.id == id }
                #expect(requests == wanted.requests && changed.map(\.identifier) == wanted.emptied)
                #expect(!parking.contains(id))
            case 1:
                let tasks = Set([task, "t\(number(6))"])
                let (requests, changed) = parking.remove(ofTasks: tasks)
                let wanted = model.remove { tasks.contains($0.task) }
                #expect(requests == wanted.requests && changed.map(\.identifier) == wanted.emptied)
            case 2, 3:
                now += Int64(number(5)) * SchedulerHand.hour
                let (requests, changed) = parking.removeEnded(now: now)
                let wanted = model.remove { [model] in model.end($0) <= now }
                #expect(requests == wanted.requests && changed.map(\.identifier) == wanted.emptied)
            case 4 where number(8) == 0:
                now -= Int64(number(48)) * SchedulerHand.hour
                parking.clockWasSet(now: now)
                for (task, since) in model.since { model.since[task] = min(since, now) }
            case 5 where number(8) == 0:
                // The clock was set back, which the host has not noticed yet.
                now -= Int64(number(3)) * SchedulerHand.hour
            case 6:
                // Its throttle points changed; the date of parking is part of the same state.
                var memory = parking.memory(of: task)
                memory.lastServedTime = now
                parking.remember(memory)
            default:
                last += 1
                let latest =
                    number(2) == 0 ? nil : now + Int64(number(200)) * SchedulerHand.hour
                let request = Self.request(last, task: task, latest: latest)
                let changed = parking.add(request, now: now)
                #expect(changed?.parkedSince == model.add(request, now: now))
                #expect(parking.contains(request.id))
            }
            Self.check(parking, model)
        }
        #expect(parking.removeEnded(now: .max).requests.count == model.requests.count)
        #expect(parking.count == 0 && parking.nextEnd == nil && parking.requests.isEmpty)
    }

    @Test func `Another date of parking moves the ends of the task's requests`() {
        var parking = Parking()
        for number in 1...3 { _ = parking.add(Self.request(number, task: "a"), now: Self.noon) }
        var memory = parking.memory(of: "a")
        memory.parkedSince = Self.noon - SchedulerHand.day
        parking.restore(memory)
        let end = Self.noon - SchedulerHand.day + Parking.keptFor
        #expect(parking.nextEnd == end)
        #expect(parking.removeEnded(now: end - 1).requests.isEmpty)
        #expect(parking.removeEnded(now: end).requests.count == 3)
    }

    @Test func `A place in a list stays valid when others leave`() throws {
        var parking = Parking()
        for number in 0..<1000 {
            _ = parking.add(Self.request(number, task: "t\(number)"), now: Self.noon)
        }
        for number in 0..<900 { _ = parking.remove(RunID(high: 1, low: UInt64(number))) }
        let rest = parking.places(from: 950).compactMap { $0.request }
        #expect(rest.map(\.task) == (950..<1000).map { "t\($0)" })
        #expect(parking.places(from: 1000).isEmpty && parking.places(from: .max).isEmpty)
    }

    private static let count = 100_000

    /// Requests of ten to a task, each with another end.
    private static func many() -> Parking {
        var parking = Parking()
        for number in 0..<count {
            let request = request(number, task: "t\(number / 10)", latest: noon + Int64(number))
            _ = parking.add(request, now: noon)
        }
        return parking
    }

    @Test func `The cost of an end does not grow with the parked requests`() {
        var parking = Self.many()
        let before = parking.visits
        var ended = 0
        while let end = parking.nextEnd {
            let requests = parking.removeEnded(now: end).requests
            guard end == Self.noon + Int64(ended) + 1, requests.count == 1 else { break }
            ended += 1
        }
        #expect(ended == Self.count)
        #expect(parking.visits - before <= 8 * Self.count)
        // Their week starts again with the next request.
        #expect(parking.remembered.isEmpty)
    }

    @Test func `The cost of a removal does not grow with the parked requests`() {
        var parking = Self.many()
        let before = parking.visits
        var removed = 0
        // In no order, as their replacements come.
        for number in 0..<Self.count {
            let low = UInt64(number * 7919 % Self.count)
            removed += parking.remove(RunID(high: 1, low: low)).requests.count
        }
        #expect(removed == Self.count && parking.count == 0 && parking.nextEnd == nil)
        #expect(parking.visits - before <= 8 * Self.count)

        parking = Self.many()
        let visits = parking.visits
        for number in 0..<(Self.count / 10) {
            removed += parking.remove(ofTasks: ["t\(number)", "other"]).requests.count
        }
        #expect(removed == 2 * Self.count && parking.count == 0)
        #expect(parking.visits - visits <= 8 * Self.count)
    }

    /// A walk of all parked requests for each question would take hours here.
    @Test func `A question about a task or a request does not walk the parked requests`() throws {
        var hand = SchedulerHand(try SchedulerHand.manifest("own"))
        hand.perform { scheduler, now, effects in
            for number in 0..<Self.count {
                scheduler.restore(
                    Self.request(number, task: "gone.\(number)"),
                    now: now,
                    &effects
                )
            }
        }
        let scheduler = hand.scheduler
        var (known, waiting, found) = (0, 0, 0)
        for number in 0..<Self.count {
            let task = "gone.\(number + Self.count / 2)"
            let id = RunID(high: 1, low: UInt64(number + Self.count / 2))
            known += scheduler.knows(task) ? 1 : 0
            waiting += scheduler.waits(id, of: task) ? 1 : 0
            found += scheduler.requests(of: task).count
        }
        #expect(known == Self.count / 2 && waiting == known && found == known)
        #expect(scheduler.waitingCount(Scheduler.WaitingQuery()) == Self.count)
    }
}
