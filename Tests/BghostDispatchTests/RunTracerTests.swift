// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostDispatch
import BghostModel
@testable import BghostPolicy
import Synchronization
import Testing

/// The owner that makes spans, with a recorder of the test.
@Suite struct RunTracerTests {
    private final class Recorder: SpanRecorder {
        private let state = Mutex((spans: [Span](), isOn: true))
        private let isSampling: Bool

        init(isSampling: Bool = true) { self.isSampling = isSampling }

        var isOn: Bool { state.withLock(\.isOn) }
        var spans: [Span] { state.withLock(\.spans) }
        var counts: SpanCounts { SpanCounts() }

        func turnOff() { state.withLock { $0.isOn = false } }
        func samples(traceLow: UInt64) -> Bool { isSampling }
        func record(_ span: Span) { state.withLock { $0.spans.append(span) } }
    }

    private static let id = RunID(high: 1_900_000_000_000 << 16, low: 7)
    private static let request = RunID(high: 1_899_999_999_000 << 16, low: 3)
    private static let due: Int64 = 1_899_999_999_000_000_000

    private static func record(
        trace: RunTrace? = nil,
        startedAt: Int64? = nil,
        outcome: Outcome? = nil,
        message: String = ""
    ) -> RunRecord {
        RunRecord(
            id: id,
            request: request,
            task: "backup",
            plugin: "plugin",
            attempt: 2,
            outcome: outcome,
            message: message,
            limits: RunLimits(kind: .refresh),
            submittedAt: due,
            startedAt: startedAt,
            endedAt: due + 9,
            trace: trace
        )
    }

    private static func start(_ record: RunRecord) -> RunStart {
        RunStart(
            handle: RunHandle(index: 0),
            task: 0,
            parameters: "{}",
            isManual: false,
            due: due + 1,
            firstDue: due,
            record: record,
            changes: []
        )
    }

    /// The trace of a submitter whose own span is 42.
    private static func given(isSampled: Bool, span: UInt64 = 42) -> RunTrace {
        RunTrace(
            context: TraceContext(traceHigh: 5, traceLow: 6, span: span, flags: isSampled ? 1 : 0),
            parent: 42,
            since: due
        )
    }

    private static func attribute(_ span: Span?, _ key: String) -> Span.Value? {
        span?.attributes.first { $0.key == key }?.value
    }

    private static let original = Request(
        id: request,
        task: "backup",
        parameters: "{}",
        submittedAt: due,
        priority: 0
    )

    @Test func `A request without a trace begins one, whose ids follow from its own`() throws {
        for isSampling in [false, true] {
            let tracer = RunTracer(Recorder(isSampling: isSampling))
            let trace = try #require(tracer.trace(of: Self.start(Self.record())))
            #expect(trace.context.traceHigh == Self.request.high)
            #expect(trace.context.traceLow == Self.request.low)
            #expect(trace.context.span == Self.id.spanID)
            #expect(trace.parent == 0 && trace.since == Self.due)
            #expect(trace.context.isSampled == isSampling && tracer.records(trace) == isSampling)
        }
    }

    @Test func `A run is put below its submitter only if its spans are recorded`() {
        let tracer = RunTracer(Recorder())
        let sampled = tracer.trace(of: Self.start(Self.record(trace: Self.given(isSampled: true))))
        #expect(sampled?.context.span == Self.id.spanID && sampled?.parent == 42)
        #expect(sampled?.context.traceLow == 6)
        let given = Self.given(isSampled: false)
        let silent = tracer.trace(of: Self.start(Self.record(trace: given)))
        #expect(silent == given && !tracer.records(silent))
        // It has its place already.
        let own = Self.given(isSampled: true, span: Self.id.spanID)
        #expect(tracer.trace(of: Self.start(Self.record(trace: own))) == own)
    }

    @Test func `Without a recorder that is on, traces of submitters are passed on and no more`() {
        let off = Recorder()
        off.turnOff()
        let given = Self.given(isSampled: true)
        for tracer in [RunTracer(nil), RunTracer(off)] {
            #expect(tracer.trace(of: Self.start(Self.record())) == nil)
            #expect(tracer.trace(of: Self.start(Self.record(trace: given))) == given)
            #expect(!tracer.records(given) && tracer.fetchSpan(in: given) == nil)
            let record = Self.record(trace: given, startedAt: Self.due + 5, outcome: .failed)
            tracer.started(record, due: Self.due, dispatched: Self.due + 1, isCold: true)
            tracer.ended(record, [.runEnded(record, then: .consumed)])
        }
        #expect(off.spans.isEmpty)
    }

    @Test func `The wait ends with the dispatch if a worker had to be started`() {
        let trace = Self.given(isSampled: true)
        let record = Self.record(trace: trace, startedAt: Self.due + 5)
        let warm = Recorder()
        RunTracer(warm).started(record, due: Self.due, dispatched: Self.due + 2, isCold: false)
        #expect(warm.spans.map(\.name) == ["wait backup"])
        #expect(warm.spans.map(\.end) == [Self.due + 5])
        let cold = Recorder()
        RunTracer(cold).started(record, due: Self.due, dispatched: Self.due + 2, isCold: true)
        #expect(cold.spans.map(\.name) == ["wait backup", "start plugin"])
        #expect(cold.spans.map(\.start) == [Self.due, Self.due + 2])
        #expect(cold.spans.map(\.end) == [Self.due + 2, Self.due + 5])
        #expect(cold.spans.allSatisfy { $0.parent == Self.request.spanID })
        #expect(Set(cold.spans.map(\.context.span)).count == 2)
        // After a step of the clock no span ends before it starts.
        let stepped = Recorder()
        let late = Self.due + 8
        RunTracer(stepped).started(record, due: late + 1, dispatched: late, isCold: true)
        #expect(stepped.spans.allSatisfy { $0.start <= $0.end })
    }

    @Test func `The span of a request is recorded with its last run only`() {
        let trace = Self.given(isSampled: true, span: Self.id.spanID)
        let record = Self.record(
            trace: trace,
            startedAt: Self.due + 5,
            outcome: .failed,
            message: "no route"
        )
        let (again, dead, other) = (Recorder(), Recorder(), Recorder())
        RunTracer(again).ended(record, [.runEnded(record, then: .again(Self.original))])
        #expect(again.spans.map(\.name) == ["run backup"])
        #expect(again.spans.first?.error == "no route")
        RunTracer(dead).ended(
            record,
            [.runEnded(record, then: .dead(Self.original, reason: "failed"))]
        )
        #expect(dead.spans.map(\.name) == ["run backup", "request backup"])
        let request = dead.spans.last
        #expect(request?.context.span == Self.request.spanID && request?.parent == 42)
        #expect(request?.start == Self.due && request?.end == Self.due + 9)
        #expect(Self.attribute(request, "bghost.request.dead") == .flag(true))
        #expect(Self.attribute(request, "bghost.request.attempts") == .number(2))
        #expect(request?.error == "no route")
        // Another run ended in the same transaction.
        let stranger = RunRecord(
            id: RunID(high: 9, low: 9),
            request: record.request,
            task: "backup",
            plugin: "plugin",
            limits: RunLimits(kind: .refresh),
            submittedAt: 0
        )
        RunTracer(other).ended(record, [.runEnded(stranger, then: .consumed)])
        #expect(other.spans.map(\.name) == ["run backup"])
    }

    @Test func `A run that never started has a span without an error if it succeeded`() {
        let recorder = Recorder()
        let record = Self.record(outcome: .succeeded, message: "all done")
        RunTracer(recorder).ended(record, [.runEnded(record, then: .consumed)])
        #expect(recorder.spans.map(\.name) == ["run backup", "request backup"])
        #expect(recorder.spans.allSatisfy { $0.error == nil && $0.start <= $0.end })
        #expect(Self.attribute(recorder.spans.first, "bghost.outcome") == .text("succeeded"))
    }

    @Test func `A dead request has an error even where its run has none`() {
        let recorder = Recorder()
        let record = Self.record(outcome: .succeeded)
        let end = StoreChange.runEnded(record, then: .dead(Self.original, reason: ""))
        RunTracer(recorder).ended(record, [end])
        #expect(recorder.spans.last?.error == "it is a dead letter")
    }

    @Test func `The HTTP requests of a run have spans of their own`() {
        let tracer = RunTracer(Recorder())
        let trace = Self.given(isSampled: true)
        let spans = (0..<10).compactMap { _ in tracer.fetchSpan(in: trace)?.span }
        #expect(Set(spans).count == 10 && !spans.contains(0))
        #expect(tracer.fetchSpan(in: nil) == nil)
        #expect(tracer.fetchSpan(in: Self.given(isSampled: false)) == nil)
    }
}
