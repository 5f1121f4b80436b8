// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// A question for checkpoints, without their bytes; those of the newest requests first.
package struct CheckpointQuery: Equatable, Sendable {
    /// The most rows that one page reads, with those that it leaves out.
    package static let readMax = 20_000

    package var tasks: TaskFilter?
    /// The plugin whose handler saved it.
    package var plugin: String?
    /// Only checkpoints behind that of this request.
    package var after: RunID?
    package var limit: Int

    package init(
        tasks: TaskFilter? = nil,
        plugin: String? = nil,
        after: RunID? = nil,
        limit: Int
    ) {
        self.tasks = tasks
        self.plugin = plugin
        self.after = after
        self.limit = limit
    }

    /// The page has only checkpoints of requests with smaller ids.
    package var start: RunID { after ?? RunID(high: .max, low: .max) }

    package func matches(_ checkpoint: CheckpointSummary) -> Bool {
        (tasks?.matches(checkpoint.task) ?? true)
            && (plugin ?? checkpoint.plugin) == checkpoint.plugin
    }
}

/// A page of checkpoints, those of the newest requests first.
package struct CheckpointPage: Equatable, Sendable {
    package var checkpoints: [CheckpointSummary]
    /// The request behind whose checkpoint the next page begins; `nil` if there is none.
    ///
    /// A page that reads the most rows may have fewer checkpoints than its limit, even none.
    package var next: RunID?

    package init(checkpoints: [CheckpointSummary] = [], next: RunID? = nil) {
        self.checkpoints = checkpoints
        self.next = next
    }
}
