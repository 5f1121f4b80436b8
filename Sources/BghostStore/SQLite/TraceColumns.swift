// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The columns with the places of requests and runs in traces.
enum TraceColumns {
    /// The version of the store that brought the columns: the migration's place in the list.
    static let version: Int32 = 14

    static let migration = """
        ALTER TABLE request ADD COLUMN trace TEXT;
        ALTER TABLE lease ADD COLUMN trace TEXT;
        ALTER TABLE run ADD COLUMN trace TEXT;
        """

    /// The column in a file that may not be migrated yet.
    static func name(version: Int32) -> String { version < Self.version ? "NULL" : "trace" }

    /// The text in which a request keeps its trace: both headers, with a space between them.
    static func text(_ context: TraceContext) -> String {
        context.state.isEmpty ? context.traceparent : "\(context.traceparent) \(context.state)"
    }

    /// Reads the format of ``text(_:)``; a text that a newer version wrote is read as `nil`.
    static func context(_ text: String) -> TraceContext? {
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard let parent = parts.first else { return nil }
        // As above: the run has no trace then.
        return try? TraceContext(
            traceparent: String(parent),
            tracestate: parts.count > 1 ? String(parts[1]) : ""
        )
    }
}
