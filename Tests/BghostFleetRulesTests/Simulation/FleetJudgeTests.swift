// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFleetRules
import BghostFleetSupport
import BghostModel
import BghostPolicy
import Testing

/// Each part of the judge's verdict can be found, and is found alone.
@Suite struct FleetJudgeTests {
    private static let second = FleetWorld.second

    /// A job and one time of a schedule, each with one success; the job first failed.
    private struct Story {
        var judge = FleetJudge()
        var runs: [RunRecord] = []
        var times: [String: [Int64]] = ["tick": [60]]
        /// The last call of a host.
        private var calls = 0

        init() {
            accept(1, task: "job", time: nil)
            accept(2, task: "tick", time: 60)
            run(1, epoch: 1, .failed, from: 0, to: 2)
            run(1, epoch: 2, .succeeded, from: 2, to: 4)
            run(2, epoch: 1, .succeeded, from: 1, to: 3)
        }

        var verdict: FleetJudge.Verdict { judge.verdict(runs, times: times) }

        mutating func accept(_ number: Int, task: String, time: Int64?) {
            var request = FleetSample.request(number, task: task)
            request.scheduledTime = time
            judge.accepted(request)
            if time == nil { judge.acknowledge(request.id) }
        }

        mutating func record(_ number: Int, epoch: UInt64, _ outcome: Outcome) {
            let request = FleetSample.request(number)
            let run = FleetSample.run(10 * number + Int(epoch), of: request, epoch: epoch)
            runs.append(FleetSample.ended(run, outcome))
        }

        mutating func execute(_ number: Int, on host: Int = 0, from: Int64, to: Int64?) {
            judge.began(FleetSample.id(number), host: host, at: from)
            if let to { judge.ended(FleetSample.id(number), host: host, at: to) }
        }

        mutating func run(
            _ number: Int,
            epoch: UInt64,
            _ outcome: Outcome,
            from: Int64,
            to: Int64
        ) {
            execute(number, from: from, to: to)
            record(number, epoch: epoch, outcome)
        }

        /// Sends a call at a second.
        mutating func send(_ time: Int64) -> CallLabel {
            calls += 1
            let label = CallLabel(host: 0, process: 0, number: calls)
            judge.sent(label, at: time * FleetJudgeTests.second)
            return label
        }

        mutating func call(_ time: Int64, _ answer: StoreAnswer) {
            let label = send(time)
            judge.delivered(label, answer)
        }

        mutating func start(_ time: Int64) {
            judge.starts(0, at: time * FleetJudgeTests.second)
        }
    }

    private static let session = HostSession(
        host: 0,
        incarnation: FleetSample.fence(1),
        connection: FleetSample.fence(1)
    )
    private static let registered = StoreAnswer.registered(session)

    private func expect(
        _ field: WritableKeyPath<FleetJudge.Verdict, Int>,
        _ count: Int = 1,
        sourceLocation: Testing.SourceLocation = #_sourceLocation,
        _ change: (inout Story) -> Void
    ) {
        var story = Story()
        change(&story)
        var expected = FleetJudge.Verdict()
        expected[keyPath: field] = count
        #expect(story.verdict == expected, sourceLocation: sourceLocation)
    }

    @Test func `A history without a fault has none`() {
        #expect(Story().verdict == FleetJudge.Verdict())
    }

    @Test func `An acknowledged request without a success is lost`() {
        expect(\.lost) { $0.accept(3, task: "job", time: nil) }
        expect(\.lost) {
            $0.accept(3, task: "job", time: nil)
            $0.run(3, epoch: 1, .failed, from: 0, to: 1)
        }
    }

    @Test func `A second success of a request counts`() {
        expect(\.acceptedTwice) { $0.record(1, epoch: 3, .succeeded) }
        expect(\.acceptedTwice, 0) { $0.record(1, epoch: 3, .failed) }
    }

    @Test func `A second success of a time counts, of another request too`() {
        expect(\.servedTwice) {
            $0.accept(3, task: "tick", time: 60)
            $0.record(3, epoch: 1, .succeeded)
        }
        expect(\.servedTwice, 0) {
            $0.accept(3, task: "tick", time: 120)
            $0.record(3, epoch: 1, .succeeded)
        }
    }

    @Test func `A time without a success is a gap`() {
        expect(\.gaps, 2) { $0.times = ["tick": [60, 120], "other": [60]] }
    }

    @Test(arguments: [UInt64(0), 1, 2]) func `An epoch that does not grow is old`(epoch: UInt64) {
        expect(\.oldEpochs) { $0.record(1, epoch: epoch, .failed) }
    }

    @Test func `Executions beside each other overlap`() {
        expect(\.overlaps) { $0.execute(1, on: 1, from: 3, to: 5) }
        expect(\.overlaps) {
            $0.execute(3, from: 0, to: nil)
            $0.execute(3, on: 1, from: 1000, to: 1001)
        }
        expect(\.overlaps, 0) { $0.execute(1, on: 1, from: 4, to: 5) }
        expect(\.overlaps, 0) {
            $0.execute(1, on: 1, from: 3, to: 5)
            $0.judge.stop(1, 4...9)
        }
        expect(\.overlaps) {
            $0.execute(1, on: 1, from: 3, to: 5)
            $0.judge.stop(1, 6...9)
        }
    }

    @Test func `What the store and the owners report counts`() {
        expect(\.drifts) { $0.judge.drifts += 1 }
        expect(\.foreignStarts) { $0.judge.foreignStarts += 1 }
    }

    @Test func `A start has 60 percent of a lease since an answered call`() {
        expect(\.lateStarts) { $0.start(0) }
        expect(\.lateStarts, 0) { story in
            story.call(10, Self.registered)
            story.start(15)
            story.call(15, .kept(storeClock: 0))
            story.start(20)
            let resumed = ResumedSession(session: Self.session, lastBatch: 1)
            story.call(20, .resumed(resumed))
            story.start(25)
        }
        expect(\.lateStarts) { story in
            story.call(10, Self.registered)
            story.start(16)
        }
    }

    @Test func `Only an answer to the last call that renews the lease permits a start`() {
        let others: [StoreAnswer] = [
            .found(FleetSample.fence(1)), .released, .contents(grant, PartitionContents()),
            .claimed(ClaimAnswer(session: Self.session, grants: [], shares: [:])),
        ]
        for other in others {
            expect(\.lateStarts) { story in
                story.call(10, Self.registered)
                story.call(12, other)
                story.start(17)
            }
        }
        expect(\.lateStarts) { story in
            story.call(10, Self.registered)
            let unanswered = story.send(12)
            let last = story.send(13)
            story.judge.delivered(unanswered, .kept(storeClock: 0))
            story.start(17)
            story.judge.delivered(last, .kept(storeClock: 0))
            story.start(18)
        }
        // It is not registered.
        expect(\.lateStarts) { story in
            story.call(10, .kept(storeClock: 0))
            story.start(11)
        }
    }

    private let grant = PartitionGrant(PartitionID(number: 0), epoch: 1)

    @Test func `A refused, a leaving and a dead host start nothing`() {
        let ends: [(inout Story) -> Void] = [
            { $0.call(11, .refused(.fenced)) }, { $0.call(11, .left) }, { $0.judge.leaves(0) },
            { $0.judge.died(0) },
        ]
        for end in ends {
            expect(\.lateStarts) { story in
                story.call(10, Self.registered)
                end(&story)
                story.start(12)
            }
            expect(\.lateStarts, 0) { story in
                end(&story)
                story.judge.died(0)
                story.call(12, Self.registered)
                story.start(13)
            }
        }
    }
}
