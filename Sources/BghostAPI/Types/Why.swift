// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostFacts
package import BghostModel

extension API {
    /// The answer to why a task or a request does not run.
    package struct Why: Codable, Equatable, Sendable {
        /// The task's identifier, or a family's pattern.
        package var task: String
        /// The time of the explanation on the daemon's wall clock.
        @Formatted<RFC3339> package var at: Int64
        /// The state of the task in one word: `running`, `paused`, `waiting` or `idle`.
        @OrDefault package var state: String
        /// The waiting requests, in the order in which they would start; at most 20.
        @Elements package var requests: [Explained]
        /// The number of waiting requests, including those beyond the limit.
        @OrNull package var total: Int?
        /// The runs in progress.
        @ElementsOrEmpty package var running: [Run]
        /// The last ended run; null if there is none.
        @OrNull package var last: Run?
        /// The schedule of the task; null if it has none.
        @OrNull package var schedule: Schedule?
        /// The newest dead letter of the task; null if it has none.
        @OrNull package var dead: DeadLetter?
        /// The pauses of the task, the one that ends last first.
        @ElementsOrEmpty package var pauses: [Pause]
        /// What is simulated; null if nothing is.
        @OrNull package var simulation: SimulationStatus?
        /// Where its requests live if that is the fleet, one sentence; "" if it is this host.
        @OrDefault package var place: String
    }

    /// The schedule of a task.
    package struct Schedule: Codable, Equatable, Sendable {
        /// The schedule in words.
        package var text: String
        /// The next start; null if there is none.
        @FormOrNull<RFC3339> package var next: Int64?
    }

    /// A waiting request with all its gates.
    package struct Explained: Codable, Equatable, Sendable {
        /// The request.
        package var request: Request
        /// The earliest start; null if it can no longer start, or if that cannot be predicted.
        @FormOrNull<RFC3339> package var earliestStart: Int64?
        /// Whether it starts at `earliestStart` if nothing else changes.
        @OrDefault package var certain: Bool
        /// The changes that would start it now, one sentence; null if there are none.
        @OrNull package var counterfactual: String?
        /// The unmet gate to look at first, such as `requirement(network)`: one that does not unblock by
        /// itself, otherwise the one that unblocks last; null if all are met.
        @OrNull package var blocker: String?
        /// All gates, met and unmet, in a fixed order.
        @Elements package var gates: [Gate]
        /// What an earlier run of the request saved, from which its next run goes on; absent if there is nothing.
        @OrAbsent package var checkpoint: Checkpoint?
    }

    /// A condition for the start of a request.
    package struct Gate: Codable, Equatable, Sendable {
        /// The kind of the gate.
        package var gate: BghostModel.Gate.Kind
        /// The name of the requirement; null for other kinds.
        @EmptyAsNull package var name: String
        /// Whether the gate is met.
        package var open: Bool
        /// The current state.
        package var now: String
        /// The required state.
        package var wanted: String
        /// Where the state is read; "" if it is the daemon's own.
        @OrDefault package var source: String
        /// When it last changed; null if that is unknown.
        @FormOrNull<RFC3339> package var since: Int64?
        /// When it unblocks by itself, or did; null if that cannot be predicted.
        @FormOrNull<RFC3339> package var until: Int64?
        /// How people can unblock it; "" if they cannot.
        @OrDefault package var remedy: String
        /// The met condition as a clause after "if"; "" if it can never be met.
        @OrDefault package var condition: String
        /// The runs or requests that block it, at most 8.
        @FormElements<ULID> package var ids: [RunID]
        /// The previous states, the newest first.
        @ElementsOrEmpty package var changes: [Change]
    }

    /// A former or current state of a requirement.
    package struct Change: Codable, Equatable, Sendable {
        /// Whether the requirement was met.
        package var value: FactValue
        /// The reading at the time of the change.
        @OrDefault package var reading: String
        /// The time of the change.
        @Formatted<RFC3339> package var at: Int64
    }
}

extension API.Why {
    package init(_ answer: TaskExplanation) {
        self.init(
            task: answer.task,
            at: answer.at,
            state: answer.state,
            requests: answer.requests.map { explanation in
                API.Explained(explanation, answer.checkpoints[explanation.request.id])
            },
            total: answer.total,
            running: answer.running.map(API.Run.init),
            last: answer.last.map(API.Run.init),
            schedule: answer.schedule.map { API.Schedule(text: $0.text, next: $0.next) },
            dead: answer.dead.map(API.DeadLetter.init),
            pauses: answer.pauses.map(API.Pause.init),
            simulation: answer.simulation.isActive ? answer.simulation : nil,
            place: answer.place
        )
    }

    package var explanation: TaskExplanation {
        TaskExplanation(
            task: task,
            at: at,
            requests: requests.map { $0.explanation(at: at) },
            checkpoints: requests.reduce(into: [:]) { $0[$1.request.id] = $1.checkpoint },
            total: total,
            running: running.map(\.record),
            last: last?.record,
            schedule: schedule.map { ScheduleOutlook(text: $0.text, next: $0.next) },
            dead: dead?.letter,
            pauses: pauses.map(\.pause),
            simulation: simulation ?? SimulationStatus(),
            place: place
        )
    }
}

extension API.Explained {
    fileprivate init(_ explanation: Explanation, _ checkpoint: API.Checkpoint?) {
        self.init(
            request: API.Request(explanation.request),
            earliestStart: explanation.earliestStart,
            certain: explanation.isCertain,
            counterfactual: explanation.counterfactual,
            blocker: explanation.blocker?.label,
            gates: explanation.gates.map(API.Gate.init),
            checkpoint: checkpoint
        )
    }

    fileprivate func explanation(at: Int64) -> Explanation {
        Explanation(request: request.request, gates: gates.map(\.gateOfRequest), at: at)
    }
}

extension API.Gate {
    fileprivate init(_ gate: Gate) {
        self.init(
            gate: gate.kind,
            name: gate.name,
            open: gate.isOpen,
            now: gate.now,
            wanted: gate.wanted,
            source: gate.source,
            since: gate.since,
            until: gate.until,
            remedy: gate.remedy,
            condition: gate.condition,
            ids: gate.ids,
            changes: gate.changes.map {
                API.Change(value: $0.value, reading: $0.reading, at: $0.at)
            }
        )
    }

    fileprivate var gateOfRequest: Gate {
        Gate(
            gate,
            name: name,
            isOpen: open,
            now: now,
            wanted: wanted,
            source: source,
            since: since,
            until: until,
            remedy: remedy,
            condition: condition,
            changes: changes.map {
                Fact.Change(value: $0.value, reading: $0.reading, at: $0.at)
            },
            ids: ids
        )
    }
}
