// SPDX-License-Identifier: Apache-2.0

internal import BghostPlugin

/// The next step of the driver.
extension Engine {
    enum Step: Sendable {
        case perform(Action)
        /// Wait until the plugin has released this run, which has ended.
        case waitForRelease(UInt64)
        /// Killed runs have all slots, so that no other run can start.
        case noFreeSlot
        /// Ask the test for the answer to a fetch.
        case ask(OpenFetch)
        /// Ask the test for the end of a transfer.
        case askOfTransfer(OpenTransfer)
        /// Wait until this run waits or ends.
        case wait(UInt64)
        /// Every run waits for the clock or an answer.
        case settled
    }

    /// - Parameters:
    ///   - hasResponder: whether the test has set a function that answers fetches.
    ///   - restless: a run that may wait for something other than the clock or an answer.
    mutating func nextStep(hasResponder: Bool, restless: UInt64?) -> Step {
        // One run at a time, so that a test always sees the same order.
        if let busy = first(where: { $0.busy > 0 }) { return .wait(busy) }
        // So that the slots, and a close of the plugin, do not depend on the order of threads.
        if let ended = unreleased.min() { return .waitForRelease(ended) }
        if let action = nextAction() { return .perform(action) }
        guard actions.isEmpty else { return .noFreeSlot }
        if hasResponder, let fetch = nextToAsk() { return .ask(fetch) }
        if hasResponder, let transfer = nextTransferToAsk() { return .askOfTransfer(transfer) }
        // Only now, since the run may be waiting for another run.
        let patient = waitingRuns
        if let real = first(where: { !patient.contains($0.number) && $0.number != restless }) {
            return .wait(real)
        }
        return .settled
    }

    private func first(where isWanted: (LiveRun) -> Bool) -> UInt64? {
        runs.values.filter { !$0.isGivenUp && isWanted($0) }.map(\.number).min()
    }

    /// The runs that have ended and are not released, but for those that the driver gave up.
    private var unreleased: some Sequence<UInt64> {
        runSlots.occupants.filter {
            runs[$0] == nil && abandoned[$0] == nil && !unreleasable.contains($0)
        }
    }

    /// Removes the first action that is possible.
    private mutating func nextAction() -> Action? {
        let index = actions.firstIndex { action in
            if case .start = action { runSlots.hasFree } else { true }
        }
        return index.map { actions.remove(at: $0) }
    }

    /// The runs that wait for the clock or an answer.
    private var waitingRuns: Set<UInt64> {
        Set(sleeps.values.map(\.call.run)).union(fetches.values.map(\.call.run))
            .union(transfers.values.flatMap { $0.waiters.map(\.run) })
    }

    /// Removes and returns the pending cancellation of a run, ahead of other actions.
    mutating func takeCancel(of number: UInt64) -> Action? {
        let index = actions.firstIndex {
            if case .cancel(number, _) = $0 { true } else { false }
        }
        return index.map { actions.remove(at: $0) }
    }

    /// Removes all actions and open calls, and returns an answer to every call that a handler waits
    /// for.
    mutating func takeEnds() -> [(call: OpenCall, answer: HostAnswer)] {
        var ends: [(call: OpenCall, answer: HostAnswer)] = []
        for case .answer(let call, let answer) in actions { ends.append((call, answer)) }
        for sleep in sleeps.values { ends.append((sleep.call, .cancelled)) }
        for fetch in fetches.values { ends.append((fetch.call, .cancelled)) }
        for transfer in ordered { ends += transfer.waiters.map { ($0, .cancelled) } }
        actions = []
        transfers = [:]
        sleeps = [:]
        fetches = [:]
        return ends
    }
}
