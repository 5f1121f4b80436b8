// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel
internal import BghostPolicy

/// A model of the store as a value, with the rules for its transitions.
///
/// It rejects a transition that breaks a rule: a request is pending once, leased to one run at a time, and
/// ends once; a time of a schedule is served once, by one request; the manifest takes no request of a client.
package struct Ledger: Sendable {
    /// A request that is leased to a run.
    struct Lease: Sendable {
        let request: Request
        let run: RunRecord
    }

    /// A forbidden transition.
    package enum Fault: Error, Equatable, Sendable {
        /// A request was accepted twice.
        case acceptedAgain(RunID)
        /// A request was replaced, closed or started that is not pending.
        case notPending(RunID)
        /// Two requests of one task are pending.
        case secondPending(String)
        /// A run without a lease ended, or a run under another epoch.
        case notLeased(RunID)
        /// A run started before its request's date.
        case beforeItsDate(RunID)
        /// A run started after its request's latest date.
        case afterItsDate(RunID)
        /// An appended request started while another one of its task was running or waited for a retry.
        case outOfOrder(RunID)
        /// A time of a schedule was served twice.
        case servedTwice(task: String, scheduledTime: Int64)
        /// A start of a schedule got another request, although it had one.
        case madeAnew(task: String, scheduledTime: Int64)
        /// The request of a client was replaced by one of the manifest, or dropped with a start of a schedule.
        case takenFromClient(RunID)
        /// The epoch of a run is not greater than all earlier ones.
        case oldEpoch(UInt64)
        case notDead(RunID)
    }

    package private(set) var pending: [RunID: Request] = [:]
    /// The leases by request.
    private(set) var leases: [RunID: Lease] = [:]
    private(set) var dead: [RunID: Request] = [:]
    private(set) var memories: [String: TaskMemory] = [:]
    private(set) var disabledPlugins: [String: String] = [:]
    private(set) var pauses: [PauseTarget: Pause] = [:]
    /// The recent usage of plugins with a budget.
    private(set) var uses: [RuntimeUse] = []
    /// The number of schedulers that have opened it: the upper half of each epoch.
    private(set) var incarnation: UInt32 = 0
    /// The number of accepted requests, and of those that have ended.
    private(set) var accepted = 0
    private(set) var finished = 0
    /// The one pending request of each task that is neither a retry, nor appended, nor a manual run.
    private var first: [String: RunID] = [:]
    private var served: [String: Set<Int64>] = [:]
    private var newestEpoch: UInt64 = 0

    init() {}

    /// Opens it for a new scheduler.
    mutating func open() { incarnation = max(incarnation, UInt32(newestEpoch >> 32)) + 1 }

    /// Applies one transition.
    ///
    /// - Parameter now: Unix nanoseconds.
    mutating func apply(_ change: StoreChange, now: Int64) throws(Fault) {
        switch change {
        case .accepted(let request, let replaced):
            if let replaced {
                try checkReplacement(of: replaced, by: request)
                try close(replaced)
            }
            guard leases[request.id] == nil, pending[request.id] == nil else {
                throw .acceptedAgain(request.id)
            }
            accepted += 1
            try wait(request)
        case .closed(let id, let end):
            if end == .paused, let request = pending[id], request.submitter != .manifest {
                throw .takenFromClient(id)
            }
            try close(id)
        case .runStarted(let record): try begin(record, now: now)
        case .runEnded(let record, let next): try end(record, next)
        case .redriven(let request):
            guard dead.removeValue(forKey: request.id) != nil else { throw .notDead(request.id) }
            try wait(request)
        case .moved(let request):
            guard pending[request.id] != nil else { throw .notPending(request.id) }
            pending[request.id] = request
        case .discarded(let id):
            guard dead.removeValue(forKey: id) != nil else { throw .notDead(id) }
            finished += 1
        case .runtimeConsumed(let use):
            uses.removeAll { $0.minute < use.minute.subtractingClamped(RuntimeUse.minutesKept) }
            uses.removeAll {
                $0.plugin == use.plugin && $0.kind == use.kind && $0.minute == use.minute
            }
            uses.append(use)
        case .remembered(let memory):
            memories[memory.identifier] = memory.isEmpty ? nil : memory
        // The scheduler does not decide these changes.
        case .notification, .quarantined, .startSkipped, .audited, .manifest, .alert,
            .checkpointSaved, .checkpointDeleted:
            break
        case .paused(let target, let pause): pauses[target] = pause
        case .switched(let plugin, let off): disabledPlugins[plugin] = off
        }
    }

    private func checkReplacement(of id: RunID, by request: Request) throws(Fault) {
        guard let old = pending[id], request.submitter == .manifest else { return }
        guard old.submitter == .manifest else { throw .takenFromClient(id) }
        if let time = request.scheduledTime, old.scheduledTime == time {
            throw .madeAnew(task: request.task, scheduledTime: time)
        }
    }

    private mutating func wait(_ request: Request) throws(Fault) {
        if !request.isManual, !request.isRetry, !request.isAppended {
            guard first[request.task] == nil else { throw .secondPending(request.task) }
            first[request.task] = request.id
        }
        pending[request.id] = request
    }

    private mutating func leave(_ id: RunID) throws(Fault) -> Request {
        guard let request = pending.removeValue(forKey: id) else { throw .notPending(id) }
        if first[request.task] == id { first[request.task] = nil }
        return request
    }

    private mutating func close(_ id: RunID) throws(Fault) {
        _ = try leave(id)
        finished += 1
    }

    private mutating func begin(_ record: RunRecord, now: Int64) throws(Fault) {
        let request = try leave(record.request)
        guard record.epoch > newestEpoch else { throw .oldEpoch(record.epoch) }
        newestEpoch = record.epoch
        if !request.isManual {
            guard request.earliestBegin ?? .min <= now else { throw .beforeItsDate(request.id) }
            guard request.latestBegin ?? .max >= now else { throw .afterItsDate(request.id) }
        }
        if request.isAppended, !request.isRetry {
            let isFree =
                !leases.values.contains { $0.request.task == request.task }
                && !pending.values.contains { $0.task == request.task && $0.isRetry }
            guard isFree else { throw .outOfOrder(request.id) }
        }
        if let scheduledTime = request.scheduledTime, !request.isRetry, !request.isManual {
            guard served[request.task, default: []].insert(scheduledTime).inserted else {
                throw .servedTwice(task: request.task, scheduledTime: scheduledTime)
            }
        }
        leases[request.id] = Lease(request: request, run: record)
    }

    private mutating func end(_ record: RunRecord, _ next: AfterRun) throws(Fault) {
        guard let lease = leases[record.request], lease.run.id == record.id,
            lease.run.epoch == record.epoch
        else { throw .notLeased(record.id) }
        leases[record.request] = nil
        switch next {
        case .consumed: finished += 1
        case .again(let request): try wait(request)
        case .dead(let request, _): dead[request.id] = request
        }
    }

    /// Whether each accepted request is in exactly one place: pending, leased, dead, or ended.
    var isBalanced: Bool {
        accepted == finished + pending.count + leases.count + dead.count
    }
}
