// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// A selection of dead letters.
package enum DeadLetterChoice: Equatable, Sendable {
    /// The dead letter whose request id has this prefix.
    case request(prefix: String)
    case task(String)
    case all
}

extension HostControl {
    /// Makes dead requests pending again, however many there are.
    package func redrive(
        _ choice: DeadLetterChoice
    ) async throws(OperatorRefusal) -> DeadLetterChange {
        try await redrive(choice, expected: nil)
    }

    /// Deletes dead requests, however many there are.
    package func discard(
        _ choice: DeadLetterChoice
    ) async throws(OperatorRefusal) -> DeadLetterChange {
        try await discard(choice, expected: nil)
    }
}

/// The result of a change to dead letters.
package struct DeadLetterChange: Codable, Equatable, Sendable {
    /// A request, by its id and task.
    package struct Item: Codable, Equatable, Sendable {
        /// The id of the request.
        @Formatted<ULID> package var id: RunID
        /// The identifier of its task.
        package var task: String

        package init(id: RunID, task: String) {
            self.id = id
            self.task = task
        }
    }

    /// The changed dead letters, the newest first.
    @Elements package var done: [Item] = []
    /// The dead letters that are unchanged, because the manifest no longer permits their task.
    @ElementsOrEmpty package var refused: [Item] = []
    /// Whether there are more dead letters than one call changes.
    @OrDefault package var hasMore = false

    private enum CodingKeys: String, CodingKey {
        case done = "requests"
        case refused
        case hasMore = "more"
    }

    package init() {}
}
