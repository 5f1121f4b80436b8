// SPDX-License-Identifier: Apache-2.0

/// The place of an operation in a trace, as W3C Trace Context has it: the headers `traceparent` and
/// `tracestate`.
package struct TraceContext: Hashable, Codable, Sendable {
    /// The halves of the trace's id; not both are 0.
    package var traceHigh: UInt64
    package var traceLow: UInt64
    /// The id of the span to which the header belongs; not 0.
    package var span: UInt64
    /// The known flags; unknown ones are not passed on.
    package var flags: UInt8
    /// What vendors of tracing systems add, passed on unchanged; "" if there is nothing.
    package var state: String

    /// The flag by which a caller says that it records the trace.
    package static let sampledFlag: UInt8 = 1
    /// The flag by which a caller says that the trace's id is random.
    private static let randomFlag: UInt8 = 2
    /// The flags that version 00 defines, which are passed on.
    static let knownFlags = sampledFlag | randomFlag

    package init(
        traceHigh: UInt64,
        traceLow: UInt64,
        span: UInt64,
        flags: UInt8 = 0,
        state: String = ""
    ) {
        self.traceHigh = traceHigh
        self.traceLow = traceLow
        self.span = span
        self.flags = flags
        self.state = state
    }

    /// Whether the caller records the trace, so that this host does too.
    package var isSampled: Bool { flags & Self.sampledFlag != 0 }

    /// The id of the trace, 32 lowercase hexadecimal digits.
    package var traceID: String { Self.hex(traceHigh) + Self.hex(traceLow) }

    /// The id of the span, 16 lowercase hexadecimal digits.
    package var spanID: String { Self.hex(span) }

    /// The header `traceparent`, in version 00.
    package var traceparent: String { "00-\(traceID)-\(spanID)-\(Self.byte(flags))" }

    /// The same trace at another span.
    package func at(span: UInt64) -> TraceContext {
        var other = self
        other.span = span
        return other
    }

    /// 16 lowercase hexadecimal digits.
    package static func hex(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    private static func byte(_ value: UInt8) -> String {
        (value < 16 ? "0" : "") + String(value, radix: 16)
    }
}

extension RunID {
    /// The id of a span that stands for a run or a request, derived from its id; never 0.
    ///
    /// Every daemon derives the same one, so a run that outlives its daemon keeps its place in the trace, and
    /// nothing has to be stored. The bits are mixed because ids of one millisecond are consecutive.
    package var spanID: UInt64 {
        var mixer = SplitMix64(seed: low ^ high)
        let span = mixer.next()
        return span == 0 ? 1 : span
    }
}
