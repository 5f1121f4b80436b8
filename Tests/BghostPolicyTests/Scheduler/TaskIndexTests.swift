// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// The identifiers with throttle points, and those that learn when their results are used: kept, not searched.
@Suite(.timeLimit(.minutes(5))) struct TaskIndexTests {
    private typealias Hand = SchedulerHand

    private static func manifest(_ tasks: [String], learning: Set<String>) throws -> Manifest {
        var manifest = try Hand.manifest()
        manifest.plugins[0].maxPending = PendingLimits(refresh: 1 << 20, processing: 1 << 20)
        manifest.tasks = try tasks.map { pattern in
            var task = TaskDefinition(
                identifier: try #require(IdentifierPattern(pattern)),
                handler: .plugin(name: "plugin", handler: "h")
            )
            task.learnsUse = learning.contains(pattern)
            if task.learnsUse { task.tolerance = .seconds(3600) }
            return task
        }
        return manifest
    }

    private static func throttled(_ task: String, _ points: Int, now: Int64) -> TaskMemory {
        TaskMemory(
            identifier: task,
            throttle: ThrottlePoints(points: points, changedAt: now, lastEnd: now)
        )
    }

    /// Compares both indexes with a search of all rows.
    private static func check(_ scheduler: Scheduler, _ step: Int) {
        let points = scheduler.memories.all.filter { $0.value.throttle.points > 0 }
        #expect(Set(scheduler.throttledRows) == Set(points.keys), "step \(step)")
        let entries = scheduler.pendingIndex.entries
        let learners = entries.indices.filter { entry in
            guard entries.isInUse(entry), scheduler.isPermitted(entry) else { return false }
            return scheduler.catalog.tasks[entries.kind(entry).definition].learnsUse
        }.map { entries.identifier($0) }
        #expect(scheduler.learners() == learners.sorted(), "step \(step)")
        #expect(scheduler.learners(ofPlugin: "plugin") == learners.sorted(), "step \(step)")
        #expect(scheduler.learners(ofPlugin: "another").isEmpty)
    }

    @Test(arguments: SeededGenerator.seeds(6))
    func `Both indexes are what a search of all rows finds`(seed: UInt64) throws {
        var source = SplitMix64(seed: seed)
        func number(_ bound: UInt64) -> Int { Int(source.next() % bound) }
        let sets: [[String]] = [
            ["job.*", "own"], ["job.*", "own", "job.1", "job.2"], ["own"], ["job.*"],
            ["job.*", "more.*", "own"],
        ]
        var hand = Hand(try Self.manifest(sets[0], learning: ["job.*"]))
        for step in 0..<300 {
            let names = ["job.\(number(9))", "more.\(number(4))", "own"]
            let task = names[number(3)]
            switch number(10) {
            case 0...3:
                guard hand.scheduler.catalog.task(for: task) != nil else { continue }
                try hand.submit(Submission(task: task))
            case 4:
                if !hand.begun.isEmpty { try hand.end(after: Hand.second) }
            case 5: hand.withdrawAll([task])
            case 6:
                guard hand.scheduler.catalog.task(for: task) != nil else { continue }
                let memory = Self.throttled(task, number(4), now: hand.now.unix)
                hand.perform { scheduler, now, _ in scheduler.restore(memory, now: now) }
            case 7: hand.clearThrottle(task)
            case 8:
                hand.pass(Int64(number(30)) * Hand.hour)
            default:
                let tasks = sets[number(5)]
                let learning = Set(tasks.filter { _ in number(2) == 0 })
                hand.reload(try Self.manifest(tasks, learning: learning))
            }
            Self.check(hand.scheduler, step)
        }
    }

    @Test func `Lists cost what they have, among a hundred thousand identifiers`() throws {
        var hand = Hand(
            try Self.manifest(["job.*", "own.*"], learning: ["own.*"])
        )
        let later = hand.now.unix + Hand.day
        for number in 0..<100_000 {
            try hand.submit(Submission(task: "job.\(number)", earliestBegin: later))
        }
        for number in 0..<3 {
            try hand.submit(Submission(task: "own.\(number)", earliestBegin: later))
        }
        for number in 0..<5 {
            let memory = Self.throttled("job.\(number * 1000)", 2, now: hand.now.unix)
            hand.perform { scheduler, now, _ in scheduler.restore(memory, now: now) }
        }
        let scheduler = hand.scheduler
        let rows = scheduler.throttledRows
        #expect(rows.count == 5)
        #expect(
            scheduler.throttled(rows[...]).map(\.identifier).sorted()
                == ["job.0", "job.1000", "job.2000", "job.3000", "job.4000"]
        )
        #expect(scheduler.memories(of: "job.1000").map(\.throttle.points) == [2])
        #expect(scheduler.memories(of: "job.1001").isEmpty)
        #expect(scheduler.learningRows().count == 3)
        #expect(scheduler.learners() == ["own.0", "own.1", "own.2"])
        // Rows of a list that was begun before a change.
        hand.clearThrottle("job.1000")
        hand.withdrawAll(["own.1"])
        #expect(hand.scheduler.throttled(rows[...]).count == 4)
        #expect(hand.scheduler.learners(scheduler.learningRows()[...]).sorted().first == "own.0")
    }
}
