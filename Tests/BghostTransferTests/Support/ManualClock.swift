// SPDX-License-Identifier: Apache-2.0

import BghostTransfer
import Synchronization

/// A clock that stands still until a test moves it.
final class ManualClock: TransferClock {
    private struct Sleeper {
        let moment: UInt64
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var now: UInt64 = 1_000_000_000
        /// Some day in 2026.
        var epoch: Int64 = 1_790_000_000_000_000_000
        var sleepers: [Int: Sleeper] = [:]
        var serial = 0
    }

    private let state = Mutex(State())

    var now: UInt64 { state.withLock { $0.now } }

    var unixNow: Int64 { state.withLock { $0.epoch + Int64($0.now) } }

    /// Sets the wall clock.
    func setWall(by step: Duration) {
        state.withLock { $0.epoch += step.components.seconds * 1_000_000_000 }
    }

    func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let step = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds) / 1_000_000_000
        let due = state.withLock { state in
            state.now += step
            let due = state.sleepers.filter { $0.value.moment <= state.now }
            for serial in due.keys { state.sleepers[serial] = nil }
            return due
        }
        for sleeper in due.values { sleeper.continuation.resume(returning: true) }
    }

    func sleep(until moment: UInt64) async throws {
        let serial = state.withLock { state in
            state.serial += 1
            return state.serial
        }
        let isDue = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if moment <= state.now { return true }
                    state.sleepers[serial] = Sleeper(moment: moment, continuation: continuation)
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: serial) }
            sleeper?.continuation.resume(returning: false)
        }
        if !isDue { throw CancellationError() }
    }
}
