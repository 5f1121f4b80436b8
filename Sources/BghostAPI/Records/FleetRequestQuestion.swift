// SPDX-License-Identifier: Apache-2.0

package import BghostModel

/// What a client asks about the requests of all hosts of a fleet.
package struct FleetRequestQuestion: Equatable, Sendable {
    /// Dead letters, instead of what waits or runs.
    package var isDead: Bool
    package var tasks: TaskFilter?
    /// Only requests behind this place.
    package var cursor: PageCursor?
    package var limit: Int

    package init(
        isDead: Bool = false,
        tasks: TaskFilter? = nil,
        cursor: PageCursor? = nil,
        limit: Int
    ) {
        self.isDead = isDead
        self.tasks = tasks
        self.cursor = cursor
        self.limit = limit
    }
}
