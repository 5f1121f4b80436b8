// SPDX-License-Identifier: Apache-2.0

/// An operation with a beginning and an end, as OpenTelemetry has it.
package struct Span: Equatable, Sendable {
    /// The role of the operation; raw values are those of OTLP.
    package enum Kind: Int, Equatable, Sendable {
        case `internal` = 1
        /// It waits for an answer of another program.
        case client = 3
        /// Others work on what it has begun.
        case producer = 4
        /// It works on what others have begun.
        case consumer = 5
    }

    /// A value of an attribute.
    package enum Value: Equatable, Sendable {
        case text(String)
        case number(Int64)
        case flag(Bool)
    }

    /// An attribute of a span.
    package struct Attribute: Equatable, Sendable {
        package var key: String
        package var value: Value

        package init(_ key: String, _ value: Value) {
            self.key = key
            self.value = value
        }
    }

    /// Its trace and its own id.
    package var context: TraceContext
    /// The id of the span that caused it; 0 if there is none.
    package var parent: UInt64
    package var name: String
    package var kind: Kind
    /// Unix nanoseconds.
    package var start: Int64
    /// Unix nanoseconds; not before `start`.
    package var end: Int64
    package var attributes: [Attribute]
    /// Why it failed; `nil` if it did not.
    package var error: String?

    package init(
        _ name: String,
        _ kind: Kind,
        _ context: TraceContext,
        parent: UInt64,
        start: Int64,
        end: Int64,
        attributes: [Attribute] = [],
        error: String? = nil
    ) {
        self.name = name
        self.kind = kind
        self.context = context
        self.parent = parent
        // The wall clock may have been set back in between.
        self.start = min(start, end)
        self.end = end
        self.attributes = attributes
        self.error = error
    }
}

/// Takes spans to export them.
///
/// Any thread may call it. A call costs O(1) and waits for nothing: it may be on the reactor's thread.
package protocol SpanRecorder: AnyObject, Sendable {
    /// Whether spans are exported.
    var isOn: Bool { get }

    /// Whether the spans of a trace that begins on this host are exported.
    ///
    /// The answer depends on the id alone, so it is the same for all attempts, and after a restart.
    func samples(traceLow: UInt64) -> Bool

    /// Queues a span; drops the oldest if there are too many.
    func record(_ span: Span)

    /// What became of the spans so far.
    var counts: SpanCounts { get }
}

/// What became of the spans of a daemon.
package struct SpanCounts: Equatable, Sendable {
    /// The spans that the receiver took.
    package var exported: UInt64 = 0
    /// The spans that were dropped because the queue was full.
    package var overflowed: UInt64 = 0
    /// The spans that the receiver refused, or that were given up after the last attempt.
    package var failed: UInt64 = 0
    /// The spans that wait to be sent.
    package var queued = 0

    package init() {}
}
