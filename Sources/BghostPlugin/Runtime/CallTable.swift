// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import CBghostSystem
internal import Glibc
internal import Synchronization

/// A plugin's requests to the daemon that are not answered yet.
final class CallTable: Sendable {
    /// The receiver of an answer.
    enum Waiter: @unchecked Sendable {
        // @unchecked: the context belongs to the plugin and is only passed back to it.
        case thread(CallWait)
        case fetch(FetchWait)
        case transfer(TransferWait)
        case sleep(SleepWait)

        fileprivate var isSleep: Bool { if case .sleep = self { true } else { false } }
    }

    /// A wait for the end of a transfer, with its callback.
    struct TransferWait {
        let run: UInt64
        let done: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<bg_transfer_end>?) -> Void
        let context: UnsafeMutableRawPointer?
    }

    /// A sleep on the host's own clock, with its callback.
    struct SleepWait {
        let run: UInt64
        let done: @convention(c) (UnsafeMutableRawPointer?, bg_sleep, bg_status) -> Void
        let context: UnsafeMutableRawPointer?
    }

    /// A fetch, with its callback.
    struct FetchWait {
        let run: UInt64
        let done:
            @convention(c) (UnsafeMutableRawPointer?, bg_fetch, UnsafePointer<bg_fetch_result>?)
                -> Void
        let context: UnsafeMutableRawPointer?
    }

    private struct State {
        var waiters: [UInt64: Waiter] = [:]
        /// How many of them are sleeps, which have a limit of their own: on the machine's clock, a
        /// plugin sleeps without a call of the host.
        var sleeps = 0
        var last: UInt64 = 0
        var isAbandoned = false

        var hasRoom: Bool { waiters.count - sleeps < RuntimeLimits.callsMax }
        var hasRoomForSleep: Bool { sleeps < RuntimeLimits.sleepsMax }

        mutating func remove(_ number: UInt64) -> Waiter? {
            guard let waiter = waiters.removeValue(forKey: number) else { return nil }
            if waiter.isSleep { sleeps -= 1 }
            return waiter
        }
    }

    private let state = Mutex(State())

    /// Adds a waiter.
    ///
    /// - Returns: the number of its call, or `nil` if too many calls are open.
    func add(_ waiter: Waiter) -> UInt64? {
        state.withLock { state in
            let isSleep = waiter.isSleep
            guard !state.isAbandoned, isSleep ? state.hasRoomForSleep : state.hasRoom else {
                return nil
            }
            if isSleep { state.sleeps += 1 }
            state.last += 1
            state.waiters[state.last] = waiter
            return state.last
        }
    }

    /// Removes a waiter.
    ///
    /// Only the caller that gets it may answer it.
    func remove(_ number: UInt64) -> Waiter? {
        state.withLock { $0.remove(number) }
    }

    /// Whether a fetch with this number is open.
    func hasFetch(_ number: UInt64) -> Bool {
        state.withLock {
            guard case .fetch = $0.waiters[number] else { return false }
            return true
        }
    }

    /// Whether a sleep with this number is open.
    func hasSleep(_ number: UInt64) -> Bool {
        state.withLock { $0.waiters[number]?.isSleep == true }
    }

    /// Removes and returns the sleeps of a run.
    func takeSleeps(of run: UInt64) -> [(UInt64, SleepWait)] {
        state.withLock { state in
            guard state.sleeps > 0 else { return [] }
            var found: [(UInt64, SleepWait)] = []
            for (number, waiter) in state.waiters {
                if case .sleep(let wait) = waiter, wait.run == run { found.append((number, wait)) }
            }
            // `found` has the waiters.
            for (number, _) in found { _ = state.remove(number) }
            return found
        }
    }

    /// Removes and returns the fetches of a run.
    func takeFetches(of run: UInt64) -> [(UInt64, FetchWait)] {
        state.withLock { state in
            var found: [(UInt64, FetchWait)] = []
            for (number, waiter) in state.waiters {
                if case .fetch(let wait) = waiter, wait.run == run { found.append((number, wait)) }
            }
            for (number, _) in found { state.waiters[number] = nil }
            return found
        }
    }

    /// Removes and returns a run's waits for transfers.
    func takeTransfers(of run: UInt64) -> [TransferWait] {
        state.withLock { state in
            var found: [(number: UInt64, wait: TransferWait)] = []
            for (number, waiter) in state.waiters {
                if case .transfer(let wait) = waiter, wait.run == run {
                    found.append((number, wait))
                }
            }
            for (number, _) in found { state.waiters[number] = nil }
            return found.map(\.wait)
        }
    }

    /// Wakes all waiting threads without an answer, and accepts no further calls.
    func abandonAll() {
        let waiters = state.withLock { state in
            state.isAbandoned = true
            defer {
                state.waiters = [:]
                state.sleeps = 0
            }
            return state.waiters
        }
        for case .thread(let wait) in waiters.values {
            wait.answer(HostAnswer(status: BG_E_CLOSED))
        }
    }
}

/// Blocks a thread until its answer arrives.
final class CallWait: @unchecked Sendable {
    // @unchecked: `value` is written before the semaphore is posted and read after it.
    private let semaphore: UnsafeMutablePointer<sem_t>
    private var value: HostAnswer?

    init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func answer(_ answer: HostAnswer) {
        value = answer
        sem_post(semaphore)
    }

    /// Waits for the answer; `nil` after so many seconds.
    func wait(seconds: Int) -> HostAnswer? {
        guard bgs_semaphore_wait(semaphore, UInt32(clamping: seconds)) == 0 else { return nil }
        return value
    }
}
