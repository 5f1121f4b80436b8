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
/// store. Requests are searched and counted in pages, between which deadlines and frames of workers are
/// handled.
package final class TaskExplainer {
    private let dispatcher: Dispatcher
    private let commits: CommitQueue
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
        _ commits: CommitQueue,
        _ history: HistoryReader,
        _ describer: RequestDescriber,
        _ clock: DaemonClock,
        activeRuns: @escaping () -> [RunRecord],
        simulation: @escaping () -> SimulationStatus
    ) {
        self.dispatcher = dispatcher
        self.commits = commits
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
        var explanation = await explanation(of: subject)
        let ids = explanation.requests.map(\.request.id).filter { commits.checkpoints.has($0) }
        let answer = try await history.read { store in
            (
                last: store.lastRun(task: task),
                dead: store.deadLetters(task: task, limit: 1).first,
                checkpoints: ids.compactMap {
                    store.checkpoints(idPrefix: $0.description, limit: 1).first
                }
            )
        }
        for about in answer.checkpoints where commits.checkpoints.has(about.request) {
            explanation.checkpoints[about.request] = API.Checkpoint(about)
        }
        explanation.dead = answer.dead
        explanation.last = subject.last ?? (subject.isFamily ? nil : answer.last)
        // It ended while the store was asked.
        explanation.running.removeAll { $0.id == answer.last?.id }
        return explanation
    }

    /// An explanation without what the store knows.
    private nonisolated(nonsending) func explanation(of subject: Subject) async
        -> TaskExplanation
    {
        var (requests, total): ([Request], Int) = ([], 0)
        if let selection = subject.requests { (requests, total) = await waiting(selection) }
        var places = dispatcher.scheduler.queuePlaces(of: requests)
        while places.next != nil {
            dispatcher.scheduler.count(&places, now: clock.moment)
            if places.next != nil { await Task.yield() }
        }
        let now = clock.moment
        return TaskExplanation(
            task: subject.task,
            at: now.unix,
            requests: requests.map { request in
                let gates = describer.gates(of: request, now: now, ahead: places[request.id])
                return Explanation(
                    request: describer.describe(request, gates),
                    gates: gates,
                    at: now.unix
                )
            },
            total: total,
            running: activeRuns().filter { isMember($0.task, of: subject.task) },
            last: nil,
            schedule: dispatcher.scheduler.outlook(of: subject.task, now: now),
            dead: nil,
            pauses: dispatcher.scheduler.pauses(of: subject.task),
            simulation: simulation(),
            place: commits.fleet?.place(of: subject.task, isFamily: subject.isFamily) ?? ""
        )
    }

    /// The first of the selected requests, by identifier, and the number of all.
    private nonisolated(nonsending) func waiting(
        _ selection: Scheduler.WaitingSelection
    ) async -> (requests: [Request], total: Int) {
        var requests: [Request] = []
        var total = 0
        var start: Int? = 0
        while let from = start {
            let room = TaskExplanation.requestsMax - requests.count
            let page = dispatcher.scheduler.waiting(selection, from: from, keeping: room)
            requests += page.requests
            total += page.count
            start = page.next
            if start != nil { await Task.yield() }
        }
        // The requests of one task stay in the order in which they would start.
        if case .task = selection { return (requests, total) }
        return (requests.sorted { ($0.task, $0.id) < ($1.task, $1.id) }, total)
    }

    /// What a question is about.
    private struct Subject {
        var task: String
        /// Its requests; `nil` if none of them is asked for.
        var requests: Scheduler.WaitingSelection?
        var isFamily = false
        /// The run that the question names; `nil` for the last run of the task.
        var last: RunRecord?
    }

    private nonisolated(nonsending) func subject(
        of id: String
    ) async throws(OperatorRefusal) -> Subject {
        if dispatcher.scheduler.isFamily(id) {
            return Subject(task: id, requests: .family(id), isFamily: true)
        }
        // A pending request may be parked because the manifest no longer permits its task.
        if dispatcher.scheduler.catalog.task(for: id) != nil
            || !dispatcher.scheduler.requests(of: id).isEmpty
        {
            return Subject(task: id, requests: .task(id))
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
        let (requests, total) = await waiting(.ids(range))
        if total > 1 {
            throw OperatorRefusal(
                .ambiguousRequest,
                "\(total) requests that wait have an id that begins with \(prefix)",
                fix: "give more characters",
                candidates: requests.prefix(Gate.idsMax).map { "\($0.id) \($0.task)" }
            )
        }
        if let request = requests.first {
            return Subject(task: request.task, requests: .ids(range))
        }
        if let run = activeRuns().first(where: { range.contains($0.request) }) {
            return Subject(task: run.task, requests: nil)
        }
        if range.lowerBound == range.upperBound,
            let run = try await history.read({ $0.run(ofRequest: range.lowerBound) })
        {
            return Subject(task: run.task, requests: nil, last: run)
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
