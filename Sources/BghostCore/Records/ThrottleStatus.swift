// SPDX-License-Identifier: Apache-2.0

/// What an identifier owes for runs that did not stop in time, and what that delays.
package struct ThrottleStatus: Equatable, Sendable {
    package var task: String
    /// What is owed now.
    package var points: Int
    /// How far along `ExpiryDebt.delays` that is.
    package var level: Int
    /// When its next run may begin, Unix nanoseconds; `nil` is now.
    package var nextStart: Int64?
    /// The newest runs that it comes from, as far as they are still known.
    package var causes: [Cause]

    /// A run that did not stop in time.
    package struct Cause: Equatable, Sendable {
        package var run: RunID
        package var outcome: Outcome
        /// Unix nanoseconds.
        package var endedAt: Int64

        package init(run: RunID, outcome: Outcome, endedAt: Int64) {
            self.run = run
            self.outcome = outcome
            self.endedAt = endedAt
        }
    }

    package init(
        task: String,
        points: Int,
        level: Int,
        nextStart: Int64? = nil,
        causes: [Cause] = []
    ) {
        self.task = task
        self.points = points
        self.level = level
        self.nextStart = nextStart
        self.causes = causes
    }

    /// How long after the last end the next run begins at this level.
    package var delay: Duration {
        .seconds(ExpiryDebt.delays[min(max(0, level), ExpiryDebt.delays.count - 1)])
    }
}

/// What `disable` and `enable` did.
package struct PluginSwitch: Equatable, Sendable {
    package var plugin: String
    /// Why it is off, "" for no reason; `nil` if it is on.
    package var off: String?
    /// Runs that were asked to stop.
    package var stopping: [RunID]
    /// Runs that go on.
    package var running: [RunID]

    package init(plugin: String, off: String?, stopping: [RunID] = [], running: [RunID] = []) {
        self.plugin = plugin
        self.off = off
        self.stopping = stopping
        self.running = running
    }
}
