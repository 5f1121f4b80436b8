// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc
internal import Synchronization

/// A thread that does one piece of work after the other, in order, and may block in it.
package final class WorkThread: @unchecked Sendable {
    // @unchecked: guarded by `lock`.
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let wanted: UnsafeMutablePointer<pthread_cond_t>
    private var queue: [@Sendable () -> Void] = []
    private var isEnded = false
    private var hasThread = false
    private let number = Atomic<Int32>(0)

    /// The kernel's number of the thread; 0 before it has begun.
    package var id: Int32 { number.load(ordering: .relaxed) }

    package init() {
        lock = .allocate(capacity: 1)
        wanted = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
        pthread_cond_init(wanted, nil)
        begin()
    }

    /// Has the thread begin if it has not: at first the machine may have had none.
    ///
    /// - Returns: whether there is one.
    @discardableResult
    package func begin() -> Bool {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        if !hasThread { hasThread = make() }
        return hasThread
    }

    private func make() -> Bool {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        var thread = pthread_t()
        let retained = Unmanaged.passRetained(self)
        let error = pthread_create(
            &thread,
            &attributes,
            { argument in
                guard let argument else { return nil }
                Unmanaged<WorkThread>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            retained.toOpaque()
        )
        if error != 0 { retained.release() }
        return error == 0
    }

    deinit {
        pthread_cond_destroy(wanted)
        pthread_mutex_destroy(lock)
        lock.deallocate()
        wanted.deallocate()
    }

    /// Adds work.
    ///
    /// Never waits for it.
    package func perform(_ work: @escaping @Sendable () -> Void) {
        pthread_mutex_lock(lock)
        let isFirst = queue.isEmpty
        queue.append(work)
        if !hasThread { hasThread = make() }
        pthread_mutex_unlock(lock)
        // Behind the first the thread is awake or has been woken; and it is not woken into a lock.
        if isFirst { pthread_cond_signal(wanted) }
    }

    /// Ends the thread once it has done what it has.
    ///
    /// If it is stuck in that, it stays. If there is no thread to be had, the caller does it.
    package func end() {
        pthread_mutex_lock(lock)
        isEnded = true
        if !hasThread, !queue.isEmpty { hasThread = make() }
        var left: [@Sendable () -> Void] = []
        if !hasThread { swap(&left, &queue) }
        pthread_cond_signal(wanted)
        pthread_mutex_unlock(lock)
        for item in left { item() }
    }

    private func run() {
        number.store(bgs_thread_id(), ordering: .relaxed)
        var work: [@Sendable () -> Void] = []
        pthread_mutex_lock(lock)
        while true {
            while queue.isEmpty, !isEnded { pthread_cond_wait(wanted, lock) }
            guard !queue.isEmpty else { break }
            swap(&work, &queue)
            pthread_mutex_unlock(lock)
            for item in work { item() }
            work.removeAll(keepingCapacity: true)
            pthread_mutex_lock(lock)
        }
        pthread_mutex_unlock(lock)
    }
}
