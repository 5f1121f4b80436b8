// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// A filter for log entries; `nil` means no condition.
package struct LogFilter: Equatable, Sendable {
    package var task: String?
    package var run: RunID?
    package var plugin: String?
    package var level: LogEntry.Level

    package init(
        task: String? = nil,
        run: RunID? = nil,
        plugin: String? = nil,
        level: LogEntry.Level = .trace
    ) {
        self.task = task
        self.run = run
        self.plugin = plugin
        self.level = level
    }

    /// Whether an entry matches.
    package func matches(_ entry: LogEntry) -> Bool {
        entry.level >= level && (task == nil || entry.task == task)
            && (run == nil || entry.run == run) && (plugin == nil || entry.plugin == plugin)
    }
}
