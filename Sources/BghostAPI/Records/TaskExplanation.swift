// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// Explains why a task or a request does not run.
package struct TaskExplanation: Equatable, Sendable {
    /// The task's identifier, or a family's pattern.
    package var task: String
    /// The time of the explanation on the daemon's wall clock, Unix nanoseconds.
    package var at: Int64
    /// The selected waiting requests, in the order in which they would start.
    package var requests: [Explanation]
    /// The checkpoints of those requests, by the request.
    package var checkpoints: [RunID: API.Checkpoint]
    /// The number of waiting requests, including those beyond the limit.
    package var total: Int
    /// Its runs in progress.
    package var running: [RunRecord]
    /// Its last ended run.
    package var last: RunRecord?
    /// The next start of its schedule; `nil` if it has none.
    package var schedule: ScheduleOutlook?
    /// Its newest dead letter.
    package var dead: DeadLetter?
    /// Its pauses, the one that ends last first.
    package var pauses: [Pause]
    package var simulation: SimulationStatus
    /// Where its requests live if that is the fleet, one sentence without a full stop; "" if it is this host.
    package var place: String

    /// The most requests in one explanation.
    package static let requestsMax = 20

    package init(
        task: String,
        at: Int64,
        requests: [Explanation] = [],
        checkpoints: [RunID: API.Checkpoint] = [:],
        total: Int? = nil,
        running: [RunRecord] = [],
        last: RunRecord? = nil,
        schedule: ScheduleOutlook? = nil,
        dead: DeadLetter? = nil,
        pauses: [Pause] = [],
        simulation: SimulationStatus = SimulationStatus(),
        place: String = ""
    ) {
        self.task = task
        self.at = at
        self.requests = requests
        self.checkpoints = checkpoints
        self.total = total ?? requests.count
        self.running = running
        self.last = last
        self.schedule = schedule
        self.dead = dead
        self.pauses = pauses
        self.simulation = simulation
        self.place = place
    }

    /// The state in one word: `running`, `paused`, `waiting` or `idle`.
    var state: String {
        if !running.isEmpty { return "running" }
        if !pauses.isEmpty { return "paused" }
        return requests.isEmpty ? "idle" : "waiting"
    }
}
