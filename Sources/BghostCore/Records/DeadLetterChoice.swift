// SPDX-License-Identifier: Apache-2.0

/// Which dead letters an operator means.
package enum DeadLetterChoice: Equatable, Sendable {
    /// The one whose request has an id that begins like this.
    case request(prefix: String)
    case task(String)
    case all
}

/// What became of dead letters.
package struct DeadLetterChange: Equatable, Sendable {
    /// A request by its name.
    package struct Item: Equatable, Sendable {
        package var id: RunID
        package var task: String

        package init(id: RunID, task: String) {
            self.id = id
            self.task = task
        }
    }

    /// Those that it was done to, the newest first.
    package var done: [Item] = []
    /// Those that stay dead, because the manifest no longer permits their task.
    package var refused: [Item] = []
    /// Whether there are more than one call takes.
    package var hasMore = false

    package init() {}
}
