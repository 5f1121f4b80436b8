// SPDX-License-Identifier: Apache-2.0

/// The place of a run in a trace, as it is stored with the run.
package struct RunTrace: Hashable, Codable, Sendable {
    /// What the run's handler and its HTTP requests pass on.
    package var context: TraceContext
    /// The span of the submitter, under which the spans of the request are; 0 if there is none.
    package var parent: UInt64
    /// When the request could start for the first time, Unix nanoseconds.
    package var since: Int64

    package init(context: TraceContext, parent: UInt64, since: Int64) {
        self.context = context
        self.parent = parent
        self.since = since
    }

    /// The text in which it is stored: `traceparent`, parent, time and `tracestate`.
    package var stored: String {
        "\(context.traceparent) \(TraceContext.hex(parent)) \(since) \(context.state)"
    }

    /// Reads the format of ``stored``; `nil` for any other text.
    package init?(stored text: String) {
        let parts = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, let parent = UInt64(parts[1], radix: 16),
            let since = Int64(parts[2]),
            // Any other text: `nil`.
            let context = try? TraceContext(
                traceparent: String(parts[0]),
                tracestate: String(parts[3])
            )
        else { return nil }
        self.init(context: context, parent: parent, since: since)
    }
}
