// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy

/// Compares what the clients of a simulated fleet were told with what the store has kept.
///
/// It has its own record of requests, executions and calls; it asks no host and no lease. Drifts are those that the
/// store reported.
struct FleetJudge {
    struct Verdict: Equatable {
        /// Acknowledged requests that never succeeded.
        var lost = 0
        /// Requests with a second accepted success.
        var acceptedTwice = 0
        /// Times of a schedule with a second accepted success, of one request or of two.
        var servedTwice = 0
        /// Times of a schedule that none has served.
        var gaps = 0
        /// Runs whose epoch is not greater than that of an earlier run of their request.
        var oldEpochs = 0
        /// Executions of a request beside another one, of hosts that were not stopped meanwhile.
        var overlaps = 0
        /// Batches that did not fit the store, though their host had a valid session.
        var drifts = 0
        /// Runs that a host started later than 60 % of the lease after the sending of its last call that renews the
        /// lease and was answered, or after a refusal, or while it left.
        var lateStarts = 0
        /// Runs that a host started in a partition which another host, or none, owned.
        var foreignStarts = 0

        /// All parts by their names.
        var counts: [String: Int] {
            Mirror(reflecting: self).children.reduce(into: [:]) { counts, part in
                counts[part.label ?? ""] = part.value as? Int
            }
        }
    }

    private struct Execution {
        let began: Int64
        var end: Int64?
        let host: Int
    }

    private var acknowledged: [RunID] = []
    private var slots: [RunID: (task: String, time: Int64)] = [:]
    private var executions: [RunID: [Execution]] = [:]
    /// When hosts were stopped: they cannot keep their runs of that time apart from those of others.
    private var stops: [Int: [ClosedRange<Int64>]] = [:]
    /// The last call of each host.
    private var calls: [Int: (label: CallLabel, sentAt: Int64)] = [:]
    /// When the last answered call that renews the lease was sent, of hosts that are registered.
    private var renewals: [Int: Int64] = [:]
    private var leaving: Set<Int> = []
    private var lateStarts = 0
    var drifts = 0
    var foreignStarts = 0
    /// How many calls the fence has refused.
    var refusals = 0
    /// The number of partitions that changed their owner.
    var adoptions = 0

    var acknowledgements: Int { acknowledged.count }

    mutating func acknowledge(_ request: RunID) { acknowledged.append(request) }

    mutating func accepted(_ request: Request) {
        guard let time = request.scheduledTime else { return }
        slots[request.id] = (request.task, time)
    }

    mutating func began(_ request: RunID, host: Int, at now: Int64) {
        executions[request, default: []].append(Execution(began: now, host: host))
    }

    mutating func ended(_ request: RunID, host: Int, at now: Int64) {
        guard
            let index = executions[request]?.lastIndex(where: { $0.host == host && $0.end == nil })
        else { return }
        executions[request]?[index].end = now
    }

    mutating func stop(_ host: Int, _ time: ClosedRange<Int64>) {
        stops[host, default: []].append(time)
    }

    // MARK: Leases

    mutating func sent(_ label: CallLabel, at now: Int64) { calls[label.host] = (label, now) }

    /// The process that made a call gets the answer to it.
    mutating func delivered(_ label: CallLabel, _ answer: StoreAnswer) {
        guard let call = calls[label.host], call.label == label else { return }
        calls[label.host] = nil
        switch answer {
        case .registered: renewals[label.host] = call.sentAt
        case .resumed, .kept:
            if renewals[label.host] != nil { renewals[label.host] = call.sentAt }
        case .refused, .left: renewals[label.host] = nil
        case .found, .claimed, .released, .contents: break
        }
    }

    mutating func leaves(_ host: Int) { leaving.insert(host) }

    mutating func died(_ host: Int) {
        renewals[host] = nil
        leaving.remove(host)
    }

    mutating func starts(_ host: Int, at now: Int64) {
        let isPermitted = renewals[host].map { now - $0 < Int64(FleetWorld.lease) / 10 * 6 }
        if isPermitted != true || leaving.contains(host) { lateStarts += 1 }
    }

    // MARK: The verdict

    private func wasStopped(during execution: Execution) -> Bool {
        let time = execution.began...max(execution.began, execution.end ?? .max)
        return stops[execution.host]?.contains { $0.overlaps(time) } ?? false
    }

    /// - Parameters:
    ///   - runs: the ended runs that the store has kept, in its order.
    ///   - times: the times of each schedule in the history, which must all be served.
    func verdict(_ runs: [RunRecord], times: [String: [Int64]]) -> Verdict {
        var verdict = Verdict()
        verdict.drifts = drifts
        verdict.lateStarts = lateStarts
        verdict.foreignStarts = foreignStarts
        var successes: [RunID: Int] = [:]
        var epochs: [RunID: UInt64] = [:]
        for run in runs {
            if run.outcome == .succeeded { successes[run.request, default: 0] += 1 }
            if run.epoch <= epochs[run.request] ?? 0 { verdict.oldEpochs += 1 }
            epochs[run.request] = run.epoch
        }
        verdict.lost = acknowledged.count { successes[$0] == nil }
        verdict.acceptedTwice = successes.values.count { $0 > 1 }
        var served: [String: [Int64: Int]] = [:]
        for (request, count) in successes {
            guard let slot = slots[request] else { continue }
            served[slot.task, default: [:]][slot.time, default: 0] += count
        }
        verdict.servedTwice = served.values.reduce(0) { $0 + $1.values.count { $0 > 1 } }
        for (task, times) in times {
            verdict.gaps += times.count { served[task]?[$0] == nil }
        }
        for all in executions.values {
            let all = all.filter { !wasStopped(during: $0) }
            for (earlier, later) in zip(all, all.dropFirst())
            where later.began < earlier.end ?? .max {
                verdict.overlaps += 1
            }
        }
        return verdict
    }
}
