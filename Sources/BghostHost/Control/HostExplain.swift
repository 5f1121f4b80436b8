// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostLinux
internal import BghostStore

/// Why something does not run.
extension Host {
    package func explain(_ id: String) throws(OperatorRefusal) -> TaskExplanation {
        if scheduler.isFamily(id) {
            return explanation(of: id, scheduler.requests(ofFamily: id), last: nil)
        }
        let requests = scheduler.requests(of: id)
        // What waits may be parked: its task is permitted no more.
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
        // A library that was mended is seen when somebody looks.
        for index in Set(requests.compactMap { scheduler.catalog.task(for: $0.task) }) {
            lookAgain(at: plugins[scheduler.catalog.pluginOfTask[index]])
        }
        let waiting = requests.filter { scheduler.waits($0.id) }
        let now = moment
        return TaskExplanation(
            task: task,
            at: now.unix,
            requests: waiting.prefix(TaskExplanation.requestsMax).map { request in
                Explanation(
                    request: describe(request),
                    gates: scheduler.gates(of: request, now: now, countsAhead: true),
                    at: now.unix
                )
            },
            total: waiting.count,
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
