// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import CBghostSystem
internal import Glibc

/// An event that one thread waits for; an event before the wait is kept.
///
/// It uses no descriptor, since checks count those of the process.
final class WaitableEvent: @unchecked Sendable {
    // @unchecked: `lock` protects `value`.
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: UInt64?

    init() {
        lock = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(lock)
        condition.deallocate()
        lock.deallocate()
    }

    func signal(_ value: UInt64) {
        pthread_mutex_lock(lock)
        self.value = value
        pthread_cond_signal(condition)
        pthread_mutex_unlock(lock)
        LentThread.wakeUp()
    }

    /// Removes and returns the value of the last signal.
    private func take() -> UInt64? {
        pthread_mutex_lock(lock)
        defer {
            value = nil
            pthread_mutex_unlock(lock)
        }
        return value
    }

    /// Waits for an event and returns its value; `nil` after the timeout, which is served time.
    func wait(milliseconds: Int) -> UInt64? {
        if let value = take() { return value }
        guard milliseconds > 0 else { return nil }
        let limit = UInt64(min(milliseconds, 1 << 30)) * 1_000_000
        let time = ServedTime()
        var rest = limit
        while rest > 0 {
            if let value = wait(nanoseconds: rest) { return value }
            rest = time.rest(of: limit)
        }
        // An event that came while the time was read counts.
        return take()
    }

    /// Waits for an event without a limit, and returns its value.
    ///
    /// Threads beside that of the check wait so: they read no files, which it could take for the plugin's.
    func wait() -> UInt64 {
        while true { if let value = wait(nanoseconds: 1 << 50) { return value } }
    }

    /// Waits for an event and returns its value; `nil` after the timeout, whatever the machine does meanwhile.
    func wait(nanoseconds: UInt64) -> UInt64? {
        let end = Monotonic.now + nanoseconds
        repeat {
            if let value = take() { return value }
        } while Monotonic.now < end && LentThread.serve(until: end)
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while value == nil {
            guard bgs_condition_wait(condition, lock, end.nanoseconds) == 0 else { break }
        }
        defer { value = nil }
        return value
    }
}
