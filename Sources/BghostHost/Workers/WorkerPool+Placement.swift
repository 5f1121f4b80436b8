// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostConfiguration
internal import BghostLinux
internal import BghostServices
internal import Glibc

/// Processor affinity of the reactor and of the executors of short, consecutive runs.
///
/// To wake an idle processor takes longer than such a run: 25 to 30 us in each direction, whereas a
/// context switch on one processor takes 2 us.
struct Placement {
    /// All processors that the daemon may use; `nil` if there is only one.
    let everywhere: ProcessorSet?
    /// The processor to which the reactor is pinned; `nil` if it is not pinned.
    var core: ProcessorSet?
    /// The executors that are pinned to the same processor.
    var pinned: [any RunExecutor] = []
    /// When the reactor was pinned.
    var begunAt: MonotonicInstant = .zero
    /// When a run last started on a pinned executor.
    var lastBegin: MonotonicInstant = .zero
    /// No executor is pinned before this time.
    var notBefore: MonotonicInstant = .zero
    /// The armed deadline; `never` if none is armed.
    var due: MonotonicInstant = .never

    init() {
        let own = ProcessorSet.ofThisThread
        // With one processor, pinning has no effect.
        everywhere = own.map(\.count) ?? 1 > 1 ? own : nil
    }

    /// A worker with more threads is not pinned, because that would take longer than its run.
    static let threadsMax: Int32 = 64
}

extension WorkerPool {
    /// Prepares an executor for a run that is sent to it next.
    func runBegins(in executor: any RunExecutor) {
        executor.slots.sharedOutput.runBegan(runs: executor.slots.runsInProgress)
        pin(executor)
    }

    /// Pins an executor to the reactor's processor before a run is sent to it.
    ///
    /// It does so only if the run is the only one and is likely to be short. Several runs use
    /// several processors.
    private func pin(_ executor: any RunExecutor) {
        guard let everywhere = placement.everywhere else { return }
        executor.begunAt = now
        guard runs.count == 1, executor.isLikelyShort, !reactor.isUrgent, now >= placement.notBefore
        else {
            // Where single and concurrent runs alternate, repeated pinning would take longer than the runs.
            if runs.count > 1 { placement.notBefore = now + timeouts.shortRun * 100 }
            unpinAll()
            return
        }
        if placement.core == nil {
            guard let core = ProcessorSet.current, core.bind(thread: 0) else { return }
            placement.core = core
            placement.begunAt = now
        }
        guard let core = placement.core else { return }
        if !executor.isPinned {
            // Record the executor first, so that `unpinAll` also unpins a partly pinned executor.
            executor.isPinned = true
            placement.pinned.append(executor)
            guard executor.pin(to: core, from: everywhere) else {
                executor.isLikelyShort = false
                unpinAll()
                return
            }
        }
        placement.lastBegin = now
        armPlacement(now + timeouts.shortRun)
    }

    /// Predicts from the duration of the last run whether the executor's next run is short.
    func noteDuration(_ executor: any RunExecutor) {
        guard placement.everywhere != nil else { return }
        // Across two processors, the two wake-ups take as long as the longest short run.
        let limit = executor.isPinned ? timeouts.shortRun : timeouts.shortRun * 2
        executor.isLikelyShort = now.since(executor.begunAt) < limit
    }

    /// Unpins everything if the current run is not short or no more runs follow.
    func placementDue() {
        placement.due = .never
        guard placement.core != nil else { return }
        // Threads that are created meanwhile inherit the affinity, so limit its duration.
        guard now.since(placement.begunAt) < timeouts.shortRun * 1000 else { return unpinAll() }
        if let busy = placement.pinned.first(where: { !$0.isIdle }) {
            let limit = busy.begunAt + timeouts.shortRun
            guard now < limit else {
                busy.isLikelyShort = false
                return unpinAll()
            }
            armPlacement(limit)
        } else {
            let limit = placement.lastBegin + timeouts.shortRun * 10
            guard now < limit else { return unpinAll() }
            armPlacement(limit)
        }
    }

    private func armPlacement(_ deadline: MonotonicInstant) {
        guard deadline < placement.due else { return }
        let wasArmed = placement.due != .never
        placement.due = deadline
        deadlines.arm(.placement, at: deadline)
        if wasArmed { deadlines.forget() }
    }

    /// Unpins the reactor and all executors, including threads that were created meanwhile.
    func unpinAll() {
        guard let core = placement.core, let everywhere = placement.everywhere else { return }
        placement.core = nil
        for executor in placement.pinned {
            executor.isPinned = false
            executor.unpin(from: core, to: everywhere)
        }
        placement.pinned.removeAll(keepingCapacity: true)
        // Include threads of the daemon itself: a new thread inherits the affinity of its creator.
        core.give(threadsOf: getpid(), to: everywhere)
    }
}
