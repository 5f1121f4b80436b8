// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
package import BghostModel
internal import BghostPolicy
package import BghostServices
internal import BghostStore

/// Explains why a task or a request does not run.
///
/// The host owns it. Use it on the reactor's thread only; it changes nothing, and another thread reads the
/// store.
package final class TaskExplainer {
    private let dispatcher: Dispatcher
    private let history: HistoryReader
    private let describer: RequestDescriber
    private let clock: DaemonClock
    private let activeRuns: () -> [RunRecord]
    private let simulation: () -> SimulationStatus

    /// - Parameters:
    ///   - activeRuns: the records of the current runs.
    ///   - simulation: what an operator simulates.
    package init(
        _ dispatcher: Dispatcher,
        _ history: HistoryReader,
        _ describer: RequestDescriber,
        _ clock: DaemonClock,
        activeRuns: @escaping () -> [RunRecord],
        simulation: @escaping () -> SimulationStatus
    ) {
        self.dispatcher = dispatcher
        self.history = history
        self.describer = describer
        self.clock = clock
        self.activeRuns = activeRuns
        self.simulation = simulation
    }

    /// Explains a task, a family, or the request whose id begins with a text.
    package nonisolated(nonsending) func explain(
        _ id: String
    ) async throws(OperatorRefusal) -> TaskExplanation {
        let subject = try await subject(of: id)
        let task = subject.task
        var explanation = explanation(of: subject)
        let answer = await history.ask { store in
            (last: store.lastRun(task: task), dead: store.deadLetters(task: task, limit: 1).first)
        }
        explanation.dead = answer.dead
        explanation.last = subject.last ?? (subject.requests == .family ? nil : answer.last)
        // It ended while the store was asked.
        explanation.running.removeAll { $0.id == answer.last?.id }
        return explanation
    }

    /// An explanation without what the store knows.
    private func explanation(of subject: Subject) -> TaskExplanation {
        let requests: [Request] =
            switch subject.requests {
            case .family: dispatcher.scheduler.requests(ofFamily: subject.task)
            case .task: dispatcher.scheduler.requests(of: subject.task)
            case .range(let range): dispatcher.scheduler.requests(in: range)
            case .none: []
            }
        let now = clock.moment
        return TaskExplanation(
            task: subject.task,
            at: now.unix,
            requests: requests.prefix(TaskExplanation.requestsMax).map { request in
                let gates = describer.gates(of: request, now: now, countsAhead: true)
                return Explanation(
                    request: describer.describe(request, gates),
                    gates: gates,
                    at: now.unix
                )
            },
            total: requests.count,
            running: activeRuns().filter { isMember($0.task, of: subject.task) },
            last: nil,
            schedule: dispatcher.scheduler.outlook(of: subject.task, now: now),
            dead: nil,
            simulation: simulation()
        )
    }

    /// What a question is about.
    private struct Subject {
        enum Requests: Equatable {
            case task
            case family
            /// The requests with these ids.
            case range(ClosedRange<RunID>)
            case none
        }

        var task: String
        var requests: Requests
        /// The run that the question names; `nil` for the last run of the task.
        var last: RunRecord?
    }

    private nonisolated(nonsending) func subject(
        of id: String
    ) async throws(OperatorRefusal) -> Subject {
        if dispatcher.scheduler.isFamily(id) { return Subject(task: id, requests: .family) }
        // A pending request may be parked because the manifest no longer permits its task.
        if dispatcher.scheduler.catalog.task(for: id) != nil
            || !dispatcher.scheduler.requests(of: id).isEmpty
        {
            return Subject(task: id, requests: .task)
        }
        return try await subject(ofPrefix: id)
    }

    private func isMember(_ identifier: String, of task: String) -> Bool {
        if identifier == task { return true }
        guard dispatcher.scheduler.isFamily(task),
            let own = dispatcher.scheduler.catalog.task(for: identifier)
        else {
            return false
        }
        return dispatcher.scheduler.catalog.tasks[own].identifier.description == task
    }

    // MARK: Requests

    private nonisolated(nonsending) func subject(
        ofPrefix prefix: String
    ) async throws(OperatorRefusal) -> Subject {
        guard let range = RunID.range(ofPrefix: prefix) else { throw dispatcher.noSuchTask(prefix) }
        let requests = dispatcher.scheduler.requests(in: range)
        if requests.count > 1 {
            throw OperatorRefusal(
                .ambiguousRequest,
                "\(requests.count) requests that wait have an id that begins with \(prefix)",
                fix: "give more characters",
                candidates: requests.prefix(Gate.idsMax).map { "\($0.id) \($0.task)" }
            )
        }
        if let request = requests.first {
            return Subject(task: request.task, requests: .range(range))
        }
        if let run = activeRuns().first(where: { range.contains($0.request) }) {
            return Subject(task: run.task, requests: .none)
        }
        if range.lowerBound == range.upperBound,
            let run = await history.ask({ $0.run(ofRequest: range.lowerBound) })
        {
            return Subject(task: run.task, requests: .none, last: run)
        }
        // Request IDs always start with a digit, and task identifiers hardly ever do.
        guard prefix.first?.isNumber == true else { throw dispatcher.noSuchTask(prefix) }
        throw OperatorRefusal(
            .noSuchRequest,
            "no pending request has an id that begins with \(prefix)",
            fix: "`bghost pending` lists them"
        )
    }
}
