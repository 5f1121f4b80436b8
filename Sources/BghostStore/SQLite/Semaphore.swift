// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import CBghostSystem
internal import Glibc

/// A counting semaphore with an optional deadline.
///
/// A signal makes a system call only if a thread waits.
///
/// It uses the monotonic clock, which POSIX semaphores do not offer.
///
/// `@unchecked`: a mutex protects the count, and the parts never move.
final class Semaphore: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// Protected by the mutex.
    private var count = 0

    init() {
        // These fail only for invalid attributes, or for lack of memory, which is already
        // allocated.
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func signal() {
        pthread_mutex_lock(mutex)
        count += 1
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    func wait() {
        pthread_mutex_lock(mutex)
        while count == 0 { pthread_cond_wait(condition, mutex) }
        count -= 1
        pthread_mutex_unlock(mutex)
    }

    /// Waits until a signal arrives, at most until the deadline.
    ///
    /// - Returns: whether it was signalled.
    func wait(until deadline: MonotonicInstant) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while count == 0 {
            guard bgs_condition_wait(condition, mutex, deadline.nanoseconds) == 0 else {
                return false
            }
        }
        count -= 1
        return true
    }
}
