// SPDX-License-Identifier: Apache-2.0

/// What a client asks about the coming starts of schedules.
package struct PlanQuestion: Equatable, Sendable {
    /// Only of this task.
    package var task: String?
    /// The length of the time from now on, hours.
    package var hours: Int
    /// The most starts of one task.
    package var perTaskMax: Int
    /// The most starts.
    package var limit: Int

    package init(task: String? = nil, hours: Int = 168, perTaskMax: Int = 200, limit: Int = 1000) {
        self.task = task
        self.hours = hours
        self.perTaskMax = perTaskMax
        self.limit = limit
    }
}
