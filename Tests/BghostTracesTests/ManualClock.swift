// SPDX-License-Identifier: Apache-2.0

import BghostTransfer
import Synchronization

/// A clock that stands still until a test moves it, and says when something sleeps on it.
final class ManualClock: TransferClock {
    private struct Sleeper {
        let moment: UInt64
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var now: UInt64 = 1_000_000_000
        var sleepers: [Int: Sleeper] = [:]
        var serial = 0
    }

    private let state = Mutex(State())
    private let begun = AsyncStream<UInt64>.makeStream()

    var now: UInt64 { state.withLock { $0.now } }
    var unixNow: Int64 { 1_790_000_000_000_000_000 + Int64(now) }

    /// Waits for the next sleep, and returns how long it is, nanoseconds; one task at a time may call it.
    func nextSleep() async throws -> UInt64 {
        for await duration in begun.stream { return duration }
        throw CancellationError()
    }

    func advance(by step: UInt64) {
        let due = state.withLock { state in
            state.now += step
            let due = state.sleepers.filter { $0.value.moment <= state.now }
            for serial in due.keys { state.sleepers[serial] = nil }
            return due
        }
        for sleeper in due.values { sleeper.continuation.resume(returning: true) }
    }

    /// Waits for the next sleep, and ends it.
    ///
    /// - Returns: how long it was, nanoseconds.
    @discardableResult
    func endNextSleep() async throws -> UInt64 {
        let duration = try await nextSleep()
        advance(by: duration)
        return duration
    }

    func sleep(until moment: UInt64) async throws {
        let serial = state.withLock { state in
            state.serial += 1
            return state.serial
        }
        let isDue = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (answer, duration) = state.withLock { state -> (Bool?, UInt64) in
                    if Task.isCancelled { return (false, 0) }
                    if moment <= state.now { return (true, 0) }
                    state.sleepers[serial] = Sleeper(moment: moment, continuation: continuation)
                    return (nil, moment - state.now)
                }
                if let answer {
                    continuation.resume(returning: answer)
                } else {
                    begun.continuation.yield(duration)
                }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: serial) }
            sleeper?.continuation.resume(returning: false)
        }
        if !isDue { throw CancellationError() }
    }
}
