// SPDX-License-Identifier: Apache-2.0

package import BghostModel

/// What a client asks about waiting requests; the conditions that are given must all hold.
package struct PendingQuestion: Equatable, Sendable {
    package var tasks: TaskFilter?
    /// The name of a plugin or function.
    package var plugin: String?
    package var submitter: Submitter.Kind?
    /// A tag of tasks of the manifest.
    package var tag: String?
    /// Only requests behind this place.
    package var cursor: PageCursor?
    package var limit: Int

    package init(
        tasks: TaskFilter? = nil,
        plugin: String? = nil,
        submitter: Submitter.Kind? = nil,
        tag: String? = nil,
        cursor: PageCursor? = nil,
        limit: Int
    ) {
        self.tasks = tasks
        self.plugin = plugin
        self.submitter = submitter
        self.tag = tag
        self.cursor = cursor
        self.limit = limit
    }
}

/// What a client asks about dead letters; the conditions that are given must all hold.
package struct DeadLetterQuestion: Equatable, Sendable {
    package var tasks: TaskFilter?
    /// The name of a plugin or function, which the manifest names for the task now.
    package var plugin: String?
    /// It died at this time or later, as a text that the daemon reads in its zone.
    package var since: String?
    /// It died before this time.
    package var until: String?
    /// Only dead letters behind this place.
    package var cursor: PageCursor?
    package var limit: Int

    package init(
        tasks: TaskFilter? = nil,
        plugin: String? = nil,
        since: String? = nil,
        until: String? = nil,
        cursor: PageCursor? = nil,
        limit: Int
    ) {
        self.tasks = tasks
        self.plugin = plugin
        self.since = since
        self.until = until
        self.cursor = cursor
        self.limit = limit
    }
}

/// What a client asks about starts that did not happen, or happened late; the conditions that are given must
/// all hold.
package struct StartQuestion: Equatable, Sendable {
    package var tasks: TaskFilter?
    /// The name of a plugin or function, which the manifest names for the task now.
    package var plugin: String?
    package var kind: SkippedStart.Kind?
    /// It was due at this time or later, as a text that the daemon reads in its zone.
    package var since: String?
    /// It was due before this time.
    package var until: String?
    /// Only starts behind this place.
    package var cursor: PageCursor?
    package var limit: Int

    package init(
        tasks: TaskFilter? = nil,
        plugin: String? = nil,
        kind: SkippedStart.Kind? = nil,
        since: String? = nil,
        until: String? = nil,
        cursor: PageCursor? = nil,
        limit: Int
    ) {
        self.tasks = tasks
        self.plugin = plugin
        self.kind = kind
        self.since = since
        self.until = until
        self.cursor = cursor
        self.limit = limit
    }
}

/// What a client asks about the sums of runs by day; the conditions that are given must all hold.
package struct RunDayQuestion: Equatable, Sendable {
    package var tasks: TaskFilter?
    /// The first day has this time, as a text that the daemon reads in its zone.
    package var since: String?
    /// The last day began before this time.
    package var until: String?
    /// Only sums behind this place.
    package var cursor: PageCursor?
    package var limit: Int

    package init(
        tasks: TaskFilter? = nil,
        since: String? = nil,
        until: String? = nil,
        cursor: PageCursor? = nil,
        limit: Int
    ) {
        self.tasks = tasks
        self.since = since
        self.until = until
        self.cursor = cursor
        self.limit = limit
    }
}

/// What a client asks about checkpoints; the conditions that are given must all hold.
package struct CheckpointQuestion: Equatable, Sendable {
    package var tasks: TaskFilter?
    /// The name of the plugin whose handler saved them.
    package var plugin: String?
    /// Only checkpoints behind this place.
    package var cursor: PageCursor?
    package var limit: Int

    package init(
        tasks: TaskFilter? = nil,
        plugin: String? = nil,
        cursor: PageCursor? = nil,
        limit: Int
    ) {
        self.tasks = tasks
        self.plugin = plugin
        self.cursor = cursor
        self.limit = limit
    }
}

extension HostControl {
    /// The first waiting requests of one task, or of all tasks.
    package func pending(task: String?, limit: Int) async -> PendingList {
        let question = PendingQuestion(tasks: task.map { .task($0) }, limit: limit)
        do {
            return try await pending(question)
        } catch {
            // Only a cursor or a plugin can be refused, and the question has neither.
            return PendingList(requests: [], total: 0)
        }
    }

    /// The newest dead letters of one task, or of all tasks.
    package func deadLetters(task: String?, limit: Int) async -> [DeadLetter] {
        let question = DeadLetterQuestion(tasks: task.map { .task($0) }, limit: limit)
        do {
            return try await deadLetters(question).letters
        } catch {
            // Only a time, a cursor or a plugin can be refused, and the question has none.
            return []
        }
    }
}
