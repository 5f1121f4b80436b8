// SPDX-License-Identifier: Apache-2.0

extension API {
    /// The output of `bghost metrics --json`.
    package struct MetricsText: Codable, Equatable, Sendable {
        /// The metrics in the text format 0.0.4 of Prometheus, which is not JSON.
        package var text: String

        package init(text: String) { self.text = text }
    }

    /// The output of `bghost stop` with a task or a tag.
    package struct StoppedRuns: Codable, Equatable, Sendable {
        /// The runs that were asked to stop, the newest first.
        @Elements package var runs: [CancelledRun]

        package init(runs: [CancelledRun]) { self.runs = runs }
    }

    /// The output of `bghost replay`, if all decisions are the same.
    package struct Replay: Codable, Equatable, Sendable {
        /// The number of decisions.
        package var decisions: Int
        /// True: a difference is an error.
        package var same: Bool

        package init(decisions: Int, same: Bool) {
            self.decisions = decisions
            self.same = same
        }
    }

    /// The output of `bghost run --virtual-clock`.
    package struct SimulationSummary: Codable, Equatable, Sendable {
        /// The seed, as text, because not every reader of JSON has 64 bits.
        package var seed: String
        /// The start of the simulated time.
        @Formatted<RFC3339> package var from: Int64
        /// The end of the simulated time.
        @Formatted<RFC3339> package var through: Int64
        /// The tasks, in the order of their names.
        @Elements package var tasks: [SimulatedTask]
        /// The number of requests that wait at the end.
        package var pending: Int
        /// The number of transitions that must not be.
        package var faults: Int

        package init(
            seed: String,
            from: Int64,
            through: Int64,
            tasks: [SimulatedTask],
            pending: Int,
            faults: Int
        ) {
            self.seed = seed
            self.from = from
            self.through = through
            self.tasks = tasks
            self.pending = pending
            self.faults = faults
        }
    }

    /// What happened to a task in a simulation.
    package struct SimulatedTask: Codable, Equatable, Sendable {
        /// The identifier of the task.
        package var task: String
        /// The number of its runs.
        package var runs: Int
        /// The number of its runs with each outcome, such as `succeeded`.
        package var outcomes: [String: Int]
        /// Its requests that ended without a run.
        package var missed: Int
        /// Its requests that became dead letters.
        package var dead: Int
        /// The longest delay of a start after its date, milliseconds.
        package var latestByMilliseconds: Int64

        package init(
            task: String,
            runs: Int,
            outcomes: [String: Int],
            missed: Int,
            dead: Int,
            latestByMilliseconds: Int64
        ) {
            self.task = task
            self.runs = runs
            self.outcomes = outcomes
            self.missed = missed
            self.dead = dead
            self.latestByMilliseconds = latestByMilliseconds
        }
    }

    /// A line of `bghost run --virtual-clock --trace`.
    package struct SimulationEvent: Codable, Equatable, Sendable {
        /// The simulated time.
        @Formatted<RFC3339> package var at: Int64
        /// What happened, a stable word such as `run.ended`.
        package var event: String
        /// The identifier of the task; "" if it is about none.
        package var task: String
        /// One line for people.
        package var message: String

        package init(at: Int64, event: String, task: String, message: String) {
            self.at = at
            self.event = event
            self.task = task
            self.message = message
        }
    }
}
