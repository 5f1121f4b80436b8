// SPDX-License-Identifier: Apache-2.0

internal import CBghost

/// The place of a run in a trace, as W3C Trace Context has it.
///
/// What the host does for the run carries it already: fetches, transfers, and requests that the run
/// submits. Send both headers with requests that the handler makes itself:
///
///     if let trace = context.trace {
///         request.setValue(trace.traceparent, forHTTPHeaderField: "traceparent")
///     }
public struct TraceContext: Sendable, Hashable {
    /// The value of the header `traceparent`, 55 characters: version, trace, span and flags.
    public let traceparent: String
    /// The value of the header `tracestate`; "" if the header is not to be sent.
    public let tracestate: String

    /// The id of the trace, 32 lowercase hexadecimal digits.
    public var traceID: String { part(at: 3, count: 32) }

    /// The id of the run's span, 16 lowercase hexadecimal digits: the parent of spans that the handler
    /// begins.
    public var spanID: String { part(at: 36, count: 16) }

    /// Whether the trace is recorded, so that a handler that records spans does it too.
    public var isSampled: Bool {
        part(at: 54, count: 1).utf8.first.map { "13579bdf".utf8.contains($0) } ?? false
    }

    init?(of run: bg_run, on host: Host) {
        guard let table = host.extension(BG_EXT_TRACE, as: bg_traces.self),
            let ask = table.context
        else { return nil }
        var context = bg_trace_context()
        context.size = UInt32(MemoryLayout<bg_trace_context>.size)
        guard ask(host.pointer, run, &context) == BG_OK else { return nil }
        traceparent = RunIdentity.text(&context.traceparent)
        tracestate = RunIdentity.text(&context.tracestate)
    }

    private func part(at start: Int, count: Int) -> String {
        String(decoding: traceparent.utf8.dropFirst(start).prefix(count), as: UTF8.self)
    }
}
