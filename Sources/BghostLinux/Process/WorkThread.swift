// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc
internal import Synchronization

/// A thread that runs work items in order; they may block.
package final class WorkThread: @unchecked Sendable {
    // @unchecked: guarded by `lock`.
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let wanted: UnsafeMutablePointer<pthread_cond_t>
    private var queue: [@Sendable () -> Void] = []
    private var isEnded = false
    private var hasThread = false
    private let number = Atomic<Int32>(0)

    /// The kernel's id of the thread; 0 before it has started.
    package var id: Int32 { number.load(ordering: .relaxed) }

    package init() {
        lock = .allocate(capacity: 1)
        wanted = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
        pthread_cond_init(wanted, nil)
        begin()
    }

    /// Starts the thread unless it runs already.
    ///
    /// An earlier attempt may have failed for lack of resources.
    ///
    /// - Returns: whether the thread exists.
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

    /// Queues work; never waits for it.
    package func perform(_ work: @escaping @Sendable () -> Void) {
        pthread_mutex_lock(lock)
        let isFirst = queue.isEmpty
        queue.append(work)
        if !hasThread { hasThread = make() }
        pthread_mutex_unlock(lock)
        // Only for the first item: otherwise the thread is awake or has been signalled. Signal
        // after unlocking, so that the thread does not wake into a held lock.
        if isFirst { pthread_cond_signal(wanted) }
    }

    /// Ends the thread after its queued work.
    ///
    /// A thread that is blocked in its work remains. If no thread can be created, the caller runs
    /// the work.
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
