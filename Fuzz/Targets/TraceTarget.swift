// SPDX-License-Identifier: Apache-2.0

import BghostBase

extension FuzzTarget {
    /// The headers `traceparent` and `tracestate` of a client, one a line.
    static let traceparent = FuzzTarget("traceparent", bytesMax: 2 << 10) {
        bytes throws(BrokenProperty) in
        let lines = String(decoding: bytes, as: UTF8.self).split(
            separator: "\n",
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        let parent = String(lines.first ?? "")
        let state = lines.count > 1 ? String(lines[1]) : ""
        if let context = try? TraceContext(traceparent: parent, tracestate: state) {
            try check(context)
            let lenient = TraceContext(traceparents: [parent], tracestates: [state])
            try require(lenient == context, "two readers differ: \(parent)")
        } else if let lenient = TraceContext(traceparents: [parent], tracestates: [state]) {
            try require(lenient.state.isEmpty, "a faulty list is passed on: \(lenient.state)")
            try check(lenient)
        }
        if let stored = RunTrace(stored: parent) {
            try require(RunTrace(stored: stored.stored) == stored, "it is not stored as it is read")
        }
    }

    /// What is read is written in one way, harmlessly, and read again as the same.
    private static func check(_ context: TraceContext) throws(BrokenProperty) {
        let text = context.traceparent
        try require(text.utf8.count == 55, "a header of \(text.utf8.count) bytes")
        let isPlain = context.state.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x09 }
        try require(isPlain && context.state.utf8.count <= 512, "a list that is no header")
        let again = try? TraceContext(traceparent: text, tracestate: context.state)
        try require(again == context, "\(text) is read as another")
        let trace = RunTrace(context: context, parent: context.span, since: 1)
        try require(RunTrace(stored: trace.stored) == trace, "\(trace.stored) is read as another")
    }
}
