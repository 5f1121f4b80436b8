// SPDX-License-Identifier: Apache-2.0

/// What the driver is to do next.
extension Engine {
    enum Step: Sendable {
        case perform(Action)
        /// Ask the test for the answer to a fetch.
        case ask(FetchCall)
        /// Ask the test what becomes of a transfer.
        case askOfTransfer(OpenTransfer)
        /// Wait until this run waits, or ends.
        case wait(UInt64)
        /// Every run waits for the clock or an answer.
        case settled
    }

    /// - Parameters:
    ///   - hasResponder: whether the test answers fetches by itself.
    ///   - restless: a run that may wait for something real.
    mutating func nextStep(hasResponder: Bool, restless: UInt64?) -> Step {
        // One after the other, so that a test sees the same order each time.
        if let busy = first(where: { $0.busy > 0 }) { return .wait(busy) }
        if !actions.isEmpty { return .perform(actions.removeFirst()) }
        if hasResponder, let fetch = nextToAsk() { return .ask(fetch) }
        if hasResponder, let transfer = nextTransferToAsk() { return .askOfTransfer(transfer) }
        // Only now: what it waits for may be another run.
        let patient = waitingRuns
        if let real = first(where: { !patient.contains($0.number) && $0.number != restless }) {
            return .wait(real)
        }
        return .settled
    }

    private func first(where isWanted: (LiveRun) -> Bool) -> UInt64? {
        runs.values.filter { !$0.isGivenUp && isWanted($0) }.map(\.number).min()
    }

    /// Runs that wait for the clock or an answer.
    private var waitingRuns: Set<UInt64> {
        Set(sleeps.values.map(\.call.run)).union(fetches.values.map(\.call.run))
            .union(transfers.values.flatMap { $0.waiters.map(\.run) })
    }

    /// Takes what asks a run to stop out of the order.
    mutating func takeCancel(of number: UInt64) -> Action? {
        let index = actions.firstIndex {
            if case .cancel(number, _) = $0 { true } else { false }
        }
        return index.map { actions.remove(at: $0) }
    }

    /// Takes the ends of all that handlers wait for, whether or not they have come.
    mutating func takeEnds() -> [Action] {
        var ends = actions.filter { action in
            switch action {
            case .endSleep, .endFetch, .endWait: true
            case .start, .cancel: false
            }
        }
        for sleep in sleeps.values { ends.append(.endSleep(sleep.call, isOver: false)) }
        for fetch in fetches.values { ends.append(.endFetch(fetch.call, .cancelled)) }
        for transfer in ordered { ends += transfer.waiters.map { .endWait($0, nil) } }
        actions = []
        transfers = [:]
        sleeps = [:]
        fetches = [:]
        return ends
    }
}
