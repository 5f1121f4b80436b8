// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// What a host asks the fleet's store about the requests of all hosts.
package struct FleetQuestion: Equatable, Sendable {
    /// The most rows of one call that it reads to find those that it is asked for.
    package static let readMax = 10_000
    /// The most submissions of one call that it reads, each with its parameters.
    package static let lettersReadMax = 1000
    /// The most bytes of requests in one answer, unless one alone has more.
    package static let bytesMax = 8 << 20

    /// Dead letters, instead of what waits or runs.
    package var isDead: Bool
    package var tasks: TaskFilter?
    /// Only what follows this place.
    package var cursor: PageCursor?
    /// 1 or more.
    package var limit: Int

    package init(isDead: Bool, tasks: TaskFilter? = nil, cursor: PageCursor? = nil, limit: Int) {
        self.isDead = isDead
        self.tasks = tasks
        self.cursor = cursor
        self.limit = max(1, limit)
    }
}

/// A request of the fleet, as its store has it.
package struct FleetRow: Equatable, Sendable {
    package enum State: String, Sendable {
        /// It is posted, and the owner of its partition has not taken it.
        case submitted
        case pending
        case running
        case dead
    }

    package var partition: PartitionID
    /// The name of the host that owns the partition; `nil` if none does.
    package var owner: String?
    package var state: State
    package var request: Request
    /// The run in progress, or the last one of a dead request.
    package var run: RunID?
    /// Why and when it died.
    package var letter: DeadLetter?
    /// Whether an operator has cancelled it, and its owner has not ended it yet.
    package var isCancelled = false

    package init(
        _ partition: PartitionID,
        owner: String?,
        _ state: State,
        _ request: Request,
        run: RunID? = nil,
        letter: DeadLetter? = nil,
        isCancelled: Bool = false
    ) {
        self.partition = partition
        self.owner = owner
        self.state = state
        self.request = request
        self.run = run
        self.letter = letter
        self.isCancelled = isCancelled
    }
}

/// A part of the requests of the fleet.
package struct FleetPage: Equatable, Sendable {
    package var rows: [FleetRow]
    /// Where the next part begins, also after an empty one; `nil` after the last one.
    package var next: PageCursor?

    package init(rows: [FleetRow] = [], next: PageCursor? = nil) {
        self.rows = rows
        self.next = next
    }
}

/// The wish of an operator that a request ends, on its way to the owner of its partition.
package struct FleetCancel: Equatable, Sendable {
    package let request: RunID
    package let task: String

    package init(_ request: RunID, task: String) {
        self.request = request
        self.task = task
    }
}

/// A part of the cancels for a host.
package struct FleetCancelPage: Equatable, Sendable {
    package var cancels: [FleetCancel]
    /// The request after which the next part begins, also after an empty one; `nil` after the last one.
    package var next: RunID?

    package init(cancels: [FleetCancel], next: RunID?) {
        self.cancels = cancels
        self.next = next
    }
}

/// The answer to `cancel`.
package struct FleetCancelAnswer: Equatable, Sendable {
    /// The request as it was.
    package let row: FleetRow
    /// Whether it was not cancelled before.
    package let isNew: Bool

    package init(_ row: FleetRow, isNew: Bool) {
        self.row = row
        self.isNew = isNew
    }
}
