// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostTransferRules

/// The spans of attempts.
extension TransferEngine {
    /// The span of the next attempt; `nil` if it is not recorded.
    func span(of request: TransferRequest) -> TraceContext? {
        guard let spans, spans.isOn, let trace = request.trace, trace.isSampled else { return nil }
        return trace.at(span: 1 + random(.max))
    }

    /// Records the span of an attempt when it has ended, also when it was abandoned.
    func traced(
        _ attempt: Attempt,
        _ number: Int,
        _ run: @Sendable () async -> AttemptResult
    ) async -> AttemptResult {
        guard let spans, let span = attempt.span else { return await run() }
        let start = clock.unixNow
        let result = await run()
        let request = attempt.request
        let (status, error) = result.end.summary
        spans.record(
            .http(
                request.effectiveMethod,
                request.url,
                span,
                parent: request.trace?.span ?? 0,
                start: start,
                end: clock.unixNow,
                status: status,
                error: error,
                attributes: [
                    Span.Attribute("bghost.plugin", .text(request.plugin)),
                    Span.Attribute("bghost.session", .text(request.session)),
                    Span.Attribute("bghost.transfer.id", .text(request.id.description)),
                    Span.Attribute("bghost.transfer.bytes", .number(result.bytes)),
                    Span.Attribute("bghost.attempt", .number(Int64(number))),
                ]
            )
        )
        return result
    }
}

extension AttemptResult {
    /// The bytes of the file that were received or sent.
    ///
    /// The point of a file that is complete may be older than its end.
    fileprivate var bytes: Int64 {
        if case .done(let answer) = end { answer.bytes } else { point.bytes }
    }
}

extension TransferMachine.AttemptEnd {
    /// The status of the last response, 0 without one, and the failure.
    fileprivate var summary: (status: Int, error: (type: String, message: String)?) {
        switch self {
        case .done(let answer): (answer.status, nil)
        case .failed(let fault, let answer, _, _):
            (answer?.status ?? 0, (fault.code.rawValue, fault.code.rawValue))
        }
    }
}
