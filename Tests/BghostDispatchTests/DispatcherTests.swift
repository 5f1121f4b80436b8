// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostDispatch
import BghostModel
import BghostOwnerSupport
import BghostPolicy
import BghostTestSupport
import Synchronization
import Testing

/// The owner of the scheduler, without a daemon and without a process.
@Suite struct DispatcherTests {
    private static let now = Moment(monotonic: 1, unix: 1_700_000_000_000_000_000)

    /// Counts what it is given.
    private final class Recorder: DecisionRecorder {
        struct Count: Equatable {
            var begins = 0
            var inputs = 0
            var decisions = 0
        }

        private let state = Mutex(Count())

        var count: Count { state.withLock { $0 } }

        func begin(_ settings: Scheduler.Settings) { state.withLock { $0.begins += 1 } }

        func add(_ inputs: [SchedulerInput.Entry], _ effects: [SchedulerEffect]) {
            state.withLock { count in
                count.inputs += inputs.count
                count.decisions += effects.count
            }
        }
    }

    private static func makeDispatcher(recorder: Recorder? = nil) -> Dispatcher {
        Dispatcher(SampleManifest.settings(), moment: { now }, recorder: recorder)
    }

    private static func ended(_ number: UInt64) -> SchedulerEffect {
        .requestClosed(RunID(high: 0, low: number))
    }

    /// The numbers of `ended` decisions.
    private static func number(_ decision: SchedulerEffect) -> UInt64? {
        if case .requestClosed(let id) = decision { id.low } else { nil }
    }

    /// Makes a dispatcher decide what a test says.
    private static func decide(_ dispatcher: Dispatcher, _ numbers: UInt64...) {
        dispatcher.decide { _, _, decisions in decisions += numbers.map { ended($0) } }
    }

    /// The numbers of decisions in the order in which they are carried out; -1 is the end of a round.
    private final class Order {
        var numbers: [Int] = []
    }

    @Test func `The effects of a decision follow those of earlier decisions`() throws {
        let dispatcher = Self.makeDispatcher()
        let order = Order()
        dispatcher.begin { [unowned dispatcher] decision in
            guard let number = Self.number(decision) else { return }
            order.numbers.append(Int(number))
            guard number < 10 else { return }
            // A nested event: its decisions are carried out by the outer round.
            Self.decide(dispatcher, number * 10, number * 10 + 1)
        } onRoundEnd: {
            order.numbers.append(-1)
        }
        dispatcher.decide { _, _, decisions in decisions += [Self.ended(1), Self.ended(2)] }
        #expect(order.numbers == [1, 2, 10, 11, 20, 21, -1])
        // No decision is left, and the next round starts empty.
        Self.decide(dispatcher, 30)
        #expect(order.numbers.suffix(2) == [30, -1])
    }

    @Test func `The end of a round can start another round`() throws {
        let dispatcher = Self.makeDispatcher()
        let order = Order()
        dispatcher.begin {
            order.numbers.append(Int(Self.number($0) ?? 0))
        } onRoundEnd: { [unowned dispatcher] in
            order.numbers.append(-1)
            if order.numbers.count < 4 { Self.decide(dispatcher, 2) }
        }
        Self.decide(dispatcher, 1)
        #expect(order.numbers == [1, -1, 2, -1])
    }

    @Test func `The dispatcher executes a proposal only when its caller commits it`() throws {
        let dispatcher = Self.makeDispatcher()
        let order = Order()
        dispatcher.begin {
            order.numbers.append(Int(Self.number($0) ?? 0))
        } onRoundEnd: {
        }
        let (answer, proposed) = dispatcher.propose { _, _, decisions in
            decisions.append(Self.ended(1))
            return "answer"
        }
        #expect(answer == "answer")
        Self.decide(dispatcher, 2)
        #expect(order.numbers == [2])
        dispatcher.execute(proposed)
        #expect(order.numbers == [2, 1])
    }

    @Test func `Decisions made before an event threw are executed in the next round`() throws {
        struct Refusal: Error {}
        let dispatcher = Self.makeDispatcher()
        let order = Order()
        dispatcher.begin {
            order.numbers.append(Int(Self.number($0) ?? 0))
        } onRoundEnd: {
        }
        #expect(throws: Refusal.self) {
            try dispatcher.decide { _, _, decisions in
                decisions.append(Self.ended(1))
                throw Refusal()
            }
        }
        Self.decide(dispatcher, 2)
        #expect(order.numbers == [1, 2])
    }

    @Test func `Only events change the scheduler, and each is recorded once`() throws {
        let recorder = Recorder()
        let dispatcher = Self.makeDispatcher(recorder: recorder)
        #expect(recorder.count == .init(begins: 1))
        dispatcher.decide { scheduler, now, _ in
            scheduler.setIncarnation(1, now: now)
        }
        let submission = Submission(task: "backup", earliestBegin: Self.now.unix + 1)
        let accepted = try dispatcher.decide { scheduler, now, _ throws(SubmitError) in
            try scheduler.accept(submission, now: now)
        }
        let made = try #require(accepted)
        let before = recorder.count
        dispatcher.decide { scheduler, now, decisions in
            scheduler.finishSubmission(made, isStored: true, now: now, &decisions)
        }
        #expect(recorder.count.inputs == before.inputs + 1)
        #expect(dispatcher.scheduler.pending("backup")?.id == made.request.id)
        #expect(dispatcher.query { $0.nextDate } == Self.now.unix + 1)

        let (withdrawn, decisions) = dispatcher.propose { scheduler, now, effects in
            scheduler.withdrawAll(of: ["backup"], now: now, &effects)
        }
        #expect(withdrawn.requests.map(\.id) == [made.request.id])
        #expect(dispatcher.scheduler.pending("backup") == nil)
        #expect(recorder.count.decisions >= decisions.count && !decisions.isEmpty)
    }
}
