// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostLinux
internal import BghostStore

/// Explanations why a task does not run.
extension Host {
    package func explain(_ id: String) throws(OperatorRefusal) -> TaskExplanation {
        if scheduler.isFamily(id) {
            let requests = scheduler.requests(ofFamily: id)
            return explanation(of: id, requests, last: nil)
        }
        let requests = scheduler.requests(of: id)
        // A pending request may be parked because the manifest no longer permits its task.
        guard scheduler.catalog.task(for: id) != nil || !requests.isEmpty else {
            return try explain(requestPrefix: id)
        }
        return explanation(of: id, requests, last: store.lastRun(task: id))
    }

    private func explanation(
        of task: String,
        _ requests: [Request],
        last: RunRecord?
    ) -> TaskExplanation {
        let now = moment
        return TaskExplanation(
            task: task,
            at: now.unix,
            requests: requests.prefix(TaskExplanation.requestsMax).map { request in
                let gates = gates(of: request, now: now, countsAhead: true)
                return Explanation(request: describe(request, gates), gates: gates, at: now.unix)
            },
            total: requests.count,
            running: activeRecords().filter { isMember($0.task, of: task) },
            last: last,
            schedule: scheduler.outlook(of: task, now: now),
            dead: store.deadLetters(task: task, limit: 1).first,
            simulation: simulation
        )
    }

    private func isMember(_ identifier: String, of task: String) -> Bool {
        if identifier == task { return true }
        guard scheduler.isFamily(task), let own = scheduler.catalog.task(for: identifier) else {
            return false
        }
        return scheduler.catalog.tasks[own].identifier.description == task
    }

    // MARK: Requests

    private func explain(requestPrefix prefix: String) throws(OperatorRefusal) -> TaskExplanation {
        guard let range = RunID.range(ofPrefix: prefix) else { throw noSuchTask(prefix) }
        let requests = scheduler.requests(in: range)
        if requests.count > 1 {
            throw OperatorRefusal(
                .ambiguousRequest,
                "\(requests.count) requests that wait have an id that begins with \(prefix)",
                fix: "give more characters",
                candidates: requests.prefix(Gate.idsMax).map { "\($0.id) \($0.task)" }
            )
        }
        if let request = requests.first {
            return explanation(of: request.task, requests, last: store.lastRun(task: request.task))
        }
        if let run = activeRecords().first(where: { range.contains($0.request) }) {
            return explanation(of: run.task, [], last: store.lastRun(task: run.task))
        }
        if range.lowerBound == range.upperBound, let run = store.run(ofRequest: range.lowerBound) {
            return explanation(of: run.task, [], last: run)
        }
        // Request IDs always start with a digit, and task identifiers hardly ever do.
        guard prefix.first?.isNumber == true else { throw noSuchTask(prefix) }
        throw OperatorRefusal(
            .noSuchRequest,
            "no pending request has an id that begins with \(prefix)",
            fix: "`bghost pending` lists them"
        )
    }

    package func requireTask(_ task: String) throws(OperatorRefusal) {
        guard scheduler.knows(task) else { throw noSuchTask(task) }
    }

    private func noSuchTask(_ name: String) -> OperatorRefusal {
        .noSuchTask(name, nearest: scheduler.nearestName(to: name))
    }
}
