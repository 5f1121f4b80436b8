// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostDispatch
internal import BghostModel
internal import BghostTransfer

/// The place of a fetch in the trace of its run.
///
/// Create and end it on the reactor's thread.
struct FetchTrace: Sendable {
    /// The headers that the request carries; `nil` if the run has no trace.
    let context: TraceContext?
    private let isRecorded: Bool
    private let parent: UInt64
    private let start: Int64
    private let attributes: [Span.Attribute]

    /// - Parameter now: Unix nanoseconds.
    init(_ run: RunRecord, _ tracer: RunTracer, now: Int64) {
        let own = tracer.fetchSpan(in: run.trace)
        isRecorded = own != nil
        // Without a span of its own, it passes on what the run has.
        context = own ?? run.trace?.context
        parent = run.trace?.context.span ?? 0
        start = now
        attributes = [
            Span.Attribute("bghost.plugin", .text(run.plugin)),
            Span.Attribute("bghost.run.id", .text(run.id.description)),
        ]
    }

    /// Records the span of the fetch.
    ///
    /// - Parameter now: Unix nanoseconds.
    func ended(
        _ request: FetchRequest,
        _ result: Result<FetchResponse, FetchFailure>,
        _ tracer: RunTracer,
        now: Int64
    ) {
        guard isRecorded, let context else { return }
        var status = 0
        var error: (type: String, message: String)?
        switch result {
        case .success(let response): status = response.status
        case .failure(let failure): error = (failure.kind, "\(failure)")
        }
        tracer.record(
            .http(
                request.method,
                request.url,
                context,
                parent: parent,
                start: start,
                end: now,
                status: status,
                error: error,
                attributes: attributes
            )
        )
    }
}
