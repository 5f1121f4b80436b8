// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostLinux
internal import BghostStore

/// Why something does not run.
extension Host {
    package func explain(_ id: String) throws(OperatorRefusal) -> TaskExplanation {
        if scheduler.isFamily(id) {
            let requests = afterALook { $0.requests(ofFamily: id) }
            return explanation(of: id, requests, last: nil)
        }
        let requests = afterALook { $0.requests(of: id) }
        // What waits may be parked: its task is permitted no more.
        guard scheduler.catalog.task(for: id) != nil || !requests.isEmpty else {
            return try explain(requestPrefix: id)
        }
        return explanation(of: id, requests, last: store.lastRun(task: id))
    }

    /// Requests that wait, once their plugins have been looked at again: a library that was mended
    /// is seen when somebody asks.
    private func afterALook(_ requests: (Scheduler) -> [Request]) -> [Request] {
        let waiting = requests(scheduler)
        let tasks = Set(waiting.compactMap { scheduler.catalog.task(for: $0.task) })
        let broken = Set(tasks.map { scheduler.catalog.pluginOfTask[$0] }).map { plugins[$0] }
            .filter { $0.problem != nil }
        guard !broken.isEmpty else { return waiting }
        for plugin in broken { lookAgain(at: plugin) }
        return requests(scheduler)
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
        guard let range = RunID.range(ofPrefix: prefix) else { throw notPermitted(prefix) }
        let requests = afterALook { $0.requests(in: range) }
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
        // Identifiers hardly ever begin with a digit, and ids of requests always do.
        guard prefix.first?.isNumber == true else { throw notPermitted(prefix) }
        throw OperatorRefusal(
            .noSuchRequest,
            "no request that waits has an id that begins with \(prefix)",
            fix: "bghost pending lists them"
        )
    }

    private func notPermitted(_ identifier: String) -> OperatorRefusal {
        OperatorRefusal(.notPermitted, scheduler.refusal(of: identifier))
    }
}
