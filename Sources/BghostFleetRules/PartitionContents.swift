// SPDX-License-Identifier: Apache-2.0

package import BghostModel

/// The state of a partition, as its next owner restores it.
package struct PartitionContents: Sendable {
    /// Requests without a run, the oldest first.
    package var pending: [Request] = []
    /// Runs that were in progress when the last owner lost the partition, with their requests.
    package var interrupted: [(request: Request, run: RunRecord)] = []
    package var dead: [DeadLetter] = []
    package var memories: [TaskMemory] = []
    /// Rows that this version of bghost cannot read; they stay for a host that can.
    package var unreadable: [UnreadableRow] = []

    package init() {}

    /// Adds the next part.
    package mutating func append(_ part: PartitionContents) {
        pending += part.pending
        interrupted += part.interrupted
        dead += part.dead
        memories += part.memories
        unreadable += part.unreadable
    }
}

/// A part of the contents of a partition.
package struct ContentsPage: Sendable {
    package var contents: PartitionContents
    /// Where the next part begins, also after an empty one; `nil` after the last one.
    package var next: ContentsPlace?

    package init(contents: PartitionContents, next: ContentsPlace? = nil) {
        self.contents = contents
        self.next = next
    }
}

/// A place in the contents of a partition: the requests by their ids come before the states of tasks.
package enum ContentsPlace: Equatable, Sendable {
    case request(String)
    case memory(String)
}

/// A row of a partition that this version of bghost cannot read, because a newer one has written it.
package enum UnreadableRow: Equatable, Sendable {
    /// A request; its task is a column of its own.
    case request(String, task: String)
    /// The state of a task.
    case memory(String)
}
