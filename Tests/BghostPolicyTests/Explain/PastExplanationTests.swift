// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostModel
@testable import BghostPolicy
import Testing

/// What is answered about a time of the past.
@Suite struct PastExplanationTests {
    private static let at: Int64 = 1_795_230_000_000_000_000
    private static let minute: Int64 = 60_000_000_000

    private static func run(_ number: UInt64, from: Int64, to: Int64?) -> RunRecord {
        RunRecord(
            id: RunID(high: 1, low: number),
            request: RunID(high: 2, low: number),
            task: "t",
            plugin: "p",
            state: to == nil ? .running : .ended,
            outcome: to == nil ? nil : .failed,
            message: to == nil ? "" : "no route",
            limits: RunLimits(kind: .refresh),
            submittedAt: 0,
            startedAt: at + from * minute,
            endedAt: to.map { at + $0 * minute }
        )
    }

    private static func start(
        _ kind: SkippedStart.Kind,
        from: Int64,
        to: Int64,
        request: UInt64 = 9
    ) -> SkippedStart {
        SkippedStart(
            task: "t",
            kind: kind,
            request: RunID(high: 2, low: request),
            due: at + from * minute,
            until: at + to * minute,
            cause: kind == .delayed ? "network" : "",
            causeSince: kind == .delayed ? at + (from - 2) * minute : nil
        )
    }

    private func explain(_ evidence: PastExplanation.Evidence) -> PastExplanation {
        PastExplanation(task: "t", at: Self.at, evidence)
    }

    @Test func `The run that began then`() {
        let past = explain(
            .init(runs: [
                Self.run(1, from: -60, to: -9), Self.run(2, from: 2, to: 5),
                Self.run(3, from: 9, to: 12), Self.run(4, from: 50, to: 60),
            ])
        )
        #expect(past.kind == .ran && past.run?.id.low == 2)
        #expect(past.sentence.hasSuffix("failed: no route"))
        let long = explain(.init(runs: [Self.run(5, from: -500, to: nil)]))
        #expect(long.kind == .ran && long.sentence.hasSuffix("is in progress"))
    }

    @Test func `What a late start waited for, and the run that began in the end`() {
        let past = explain(
            .init(
                runs: [Self.run(7, from: 70, to: 71)],
                starts: [Self.start(.delayed, from: 0, to: 70, request: 7)]
            )
        )
        #expect(past.kind == .delayed && past.run?.id.low == 7)
        #expect(past.sentence.contains("waited for network from 2026-"))
        #expect(past.sentence.contains("; then run "))
        // In the middle of the wait it is the answer too.
        let later = PastExplanation(
            task: "t",
            at: Self.at + 30 * Self.minute,
            .init(starts: [Self.start(.delayed, from: 0, to: 70)])
        )
        #expect(later.kind == .delayed && later.run == nil)
    }

    @Test func `The nearest start that did not happen`() {
        let past = explain(
            .init(starts: [
                Self.start(.late, from: -9, to: -8), Self.start(.overlap, from: 1, to: 1),
                Self.start(.overlap, from: -60, to: -60),
            ])
        )
        #expect(past.kind == .skipped && past.starts.map(\.kind) == [.overlap, .late])
        #expect(past.sentence.contains("its task was running"))
        let both = explain(
            .init(
                runs: [Self.run(1, from: -2, to: 8)],
                starts: [Self.start(.overlap, from: 1, to: 1)]
            )
        )
        #expect(both.kind == .ran && both.sentence.contains("; due at "))
    }

    @Test func `A request that still waits, no start at all, and what is not kept`() {
        let waiting = explain(.init(waitingSince: Self.at - 60 * Self.minute))
        #expect(waiting.kind == .waiting && waiting.sentence.contains("`bghost why t`"))
        #expect(explain(.init(waitingSince: Self.at + 11 * Self.minute)).kind == .notDue)
        let none = explain(.init(runs: [Self.run(1, from: 50, to: 60)], keptSince: 5))
        #expect(none.kind == .notDue && none.sentence.contains("the next run began at 2026-"))
        let old = explain(.init(keptSince: Self.at + 20 * Self.minute))
        #expect(old.kind == .notKept && old.sentence.contains("`host.history`"))
        #expect(explain(.init()).kind == .notDue)
    }
}
