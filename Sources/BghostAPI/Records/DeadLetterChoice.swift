// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// A selection of dead letters.
package enum DeadLetterChoice: Equatable, Sendable {
    /// The dead letter whose request id has this prefix.
    case request(prefix: String)
    case task(String)
    case all
}

/// The result of a change to dead letters.
package struct DeadLetterChange: Equatable, Sendable {
    /// A request, by its id and task.
    package struct Item: Equatable, Sendable {
        package var id: RunID
        package var task: String

        package init(id: RunID, task: String) {
            self.id = id
            self.task = task
        }
    }

    /// The changed dead letters, the newest first.
    package var done: [Item] = []
    /// The dead letters that are unchanged, because the manifest no longer permits their task.
    package var refused: [Item] = []
    /// Whether there are more dead letters than one call changes.
    package var hasMore = false

    package init() {}
}
