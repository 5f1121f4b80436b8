// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel
package import BghostPolicy

/// Makes the spans of requests and runs.
///
/// The host owns it. Use it on the reactor's thread only; it does not block, and an event costs O(1). Without
/// a recorder, or while that is off, it only passes on what submitters named.
///
/// The spans of a request are one tree, whose ids follow from those of the request and its runs. So every
/// attempt is in the tree, also after a restart, and nothing more than the trace is stored:
///
///     submitter, if it named its trace
///     └─ request TASK        from its due time to the end of the request
///        ├─ wait TASK        of each attempt
///        ├─ start PLUGIN     if a worker had to be started
///        └─ run TASK         of each attempt
///           └─ GET, POST …   HTTP requests of the run
package final class RunTracer {
    private let recorder: (any SpanRecorder)?
    private var random = SystemRandomNumberGenerator()

    package init(_ recorder: (any SpanRecorder)?) { self.recorder = recorder }

    // MARK: The beginning

    /// The place of a run in a trace, when the scheduler has dispatched it; `nil` if it has none.
    package func trace(of start: RunStart) -> RunTrace? {
        trace(of: start.record, since: start.firstDue)
    }

    private func trace(of record: RunRecord, since: Int64) -> RunTrace? {
        guard let recorder, recorder.isOn else { return record.trace }
        if let given = record.trace {
            // What is not recorded here has no span, so the submitter's stays the one to refer to.
            guard given.context.isSampled, given.context.span != record.id.spanID else {
                return given
            }
            return RunTrace(
                context: given.context.at(span: record.id.spanID),
                parent: given.parent,
                since: given.since
            )
        }
        let isSampled = recorder.samples(traceLow: record.request.low)
        return RunTrace(
            context: TraceContext(
                traceHigh: record.request.high,
                traceLow: record.request.low,
                span: record.id.spanID,
                flags: isSampled ? TraceContext.sampledFlag : 0
            ),
            parent: 0,
            since: since
        )
    }

    /// Whether the spans of a run are recorded.
    package func records(_ trace: RunTrace?) -> Bool {
        guard let recorder, recorder.isOn, let trace else { return false }
        return trace.context.isSampled
    }

    // MARK: Spans

    /// A handler has started.
    ///
    /// - Parameters:
    ///   - due: when its request could start, Unix nanoseconds.
    ///   - dispatched: when the scheduler dispatched it, Unix nanoseconds.
    ///   - isCold: whether its worker was not ready then.
    package func started(_ record: RunRecord, due: Int64, dispatched: Int64, isCold: Bool) {
        guard let recorder, let trace = record.trace, records(trace) else { return }
        let now = record.startedAt ?? dispatched
        recorder.record(
            Span(
                "wait \(record.task)",
                .internal,
                trace.context.at(span: spanID()),
                parent: record.request.spanID,
                start: min(due, dispatched),
                end: isCold ? dispatched : max(dispatched, now),
                attributes: Self.attributes(record)
            )
        )
        guard isCold else { return }
        recorder.record(
            Span(
                "start \(record.plugin)",
                .internal,
                trace.context.at(span: spanID()),
                parent: record.request.spanID,
                start: dispatched,
                end: max(dispatched, now),
                attributes: Self.attributes(record)
            )
        )
    }

    /// A run has ended, and these changes follow; the end of its request may be among them.
    package func ended(_ record: RunRecord, _ changes: [StoreChange]) {
        guard let recorder, recorder.isOn else { return }
        // The scheduler ends some runs before anything has started them.
        let trace = trace(of: record, since: record.submittedAt)
        guard let trace, records(trace) else { return }
        let end = record.endedAt ?? record.submittedAt
        recorder.record(
            Span(
                "run \(record.task)",
                .consumer,
                trace.context,
                parent: record.request.spanID,
                start: record.startedAt ?? min(end, record.id.unixNanoseconds),
                end: end,
                attributes: Self.attributes(record) + Self.outcome(record),
                error: Self.error(of: record)
            )
        )
        guard let isDead = Self.requestEnds(record, changes) else { return }
        recorder.record(
            Span(
                "request \(record.task)",
                .producer,
                trace.context.at(span: record.request.spanID),
                parent: trace.parent,
                start: trace.since,
                end: end,
                attributes: [
                    Span.Attribute("bghost.task", .text(record.task)),
                    Span.Attribute("bghost.plugin", .text(record.plugin)),
                    Span.Attribute("bghost.request.id", .text(record.request.description)),
                    Span.Attribute("bghost.request.attempts", .number(Int64(record.attempt))),
                    Span.Attribute("bghost.request.dead", .flag(isDead)),
                ],
                error: isDead ? Self.error(of: record) ?? "it is a dead letter" : nil
            )
        )
    }

    /// The span of an HTTP request that a run makes; `nil` if it is not recorded.
    package func fetchSpan(in trace: RunTrace?) -> TraceContext? {
        guard let trace, records(trace) else { return nil }
        return trace.context.at(span: spanID())
    }

    /// An HTTP request of a run has ended.
    package func record(_ span: Span) { recorder?.record(span) }

    private func spanID() -> UInt64 { UInt64.random(in: 1...(.max), using: &random) }

    // MARK: Attributes

    private static func attributes(_ record: RunRecord) -> [Span.Attribute] {
        var attributes = [
            Span.Attribute("bghost.task", .text(record.task)),
            Span.Attribute("bghost.plugin", .text(record.plugin)),
            Span.Attribute("bghost.run.id", .text(record.id.description)),
            Span.Attribute("bghost.request.id", .text(record.request.description)),
            Span.Attribute("bghost.attempt", .number(Int64(record.attempt))),
        ]
        if let kind = record.kind {
            attributes.append(Span.Attribute("bghost.kind", .text(kind.rawValue)))
        }
        if let version = record.origin?.version, !version.isEmpty {
            attributes.append(Span.Attribute("bghost.plugin.version", .text(version)))
        }
        return attributes
    }

    private static func outcome(_ record: RunRecord) -> [Span.Attribute] {
        var attributes: [Span.Attribute] = []
        if let outcome = record.outcome {
            attributes.append(Span.Attribute("bghost.outcome", .text(outcome.text)))
        }
        if let reason = record.stopReason {
            attributes.append(Span.Attribute("bghost.stop_reason", .text(reason.text)))
        }
        return attributes
    }

    /// The error of a run; `nil` if it succeeded.
    private static func error(of record: RunRecord) -> String? {
        guard let outcome = record.outcome, outcome != .succeeded else { return nil }
        return record.message.isEmpty ? outcome.text : record.message
    }

    /// Whether the request of an ended run is a dead letter; `nil` if it is tried again.
    private static func requestEnds(_ record: RunRecord, _ changes: [StoreChange]) -> Bool? {
        for case .runEnded(let ended, let next) in changes where ended.id == record.id {
            switch next {
            case .consumed: return false
            case .again: return nil
            case .dead: return true
            }
        }
        return nil
    }
}

extension RunID {
    /// When it was made, Unix nanoseconds, exact to a millisecond.
    fileprivate var unixNanoseconds: Int64 { Int64(high >> 16) * 1_000_000 }
}
