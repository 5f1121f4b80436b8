// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc
internal import Synchronization

/// Threads for plugin code that may block, created on demand and then kept.
///
/// The cooperative pool is unsuitable: a blocking handler would take a thread from every Task of
/// the process.
package final class ThreadPool: @unchecked Sendable {
    // @unchecked: guarded by `lock`.
    typealias Work = () -> Void

    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let wanted: UnsafeMutablePointer<pthread_cond_t>
    private let threadsMax: Int
    private var queue: [Work] = []
    private var idle = 0
    private var count = 0
    private var isEnded = false

    init(threadsMax: Int = .max) {
        self.threadsMax = threadsMax
        lock = .allocate(capacity: 1)
        wanted = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
        pthread_cond_init(wanted, nil)
    }

    deinit {
        pthread_cond_destroy(wanted)
        pthread_mutex_destroy(lock)
        lock.deallocate()
        wanted.deallocate()
    }

    /// Runs the work on an idle thread, or on a new one.
    func run(_ work: sending @escaping Work) {
        pthread_mutex_lock(lock)
        queue.append(work)
        let needsThread = queue.count > idle && count < threadsMax
        if needsThread { count += 1 } else { pthread_cond_signal(wanted) }
        pthread_mutex_unlock(lock)
        if needsThread { addThread() }
    }

    private func addThread() {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        var thread = pthread_t()
        let box = Unmanaged.passRetained(self)
        let error = pthread_create(
            &thread,
            &attributes,
            { argument in
                guard let argument else { return nil }
                Unmanaged<ThreadPool>.fromOpaque(argument).takeRetainedValue().work()
                return nil
            },
            box.toOpaque()
        )
        guard error != 0 else { return }
        // No more threads can be created: an existing one takes the work, or the run waits until
        // its time limit.
        box.release()
        pthread_mutex_lock(lock)
        count -= 1
        pthread_cond_signal(wanted)
        pthread_mutex_unlock(lock)
    }

    /// The kernel's ids of the threads of all pools; all other threads belong to the plugin.
    package static var threads: Set<Int32> { numbers.withLock { $0 } }

    private static let numbers = Mutex<Set<Int32>>([])

    /// Lets idle threads end, and each other thread after its work.
    ///
    /// Later work still gets a thread, which ends after it. A thread's memory for signals, which
    /// only workers have, is not given back.
    func end() {
        pthread_mutex_lock(lock)
        isEnded = true
        pthread_cond_broadcast(wanted)
        pthread_mutex_unlock(lock)
    }

    private func work() {
        bgs_use_signal_stack()
        let number = bgs_thread_id()
        Self.numbers.withLock { _ = $0.insert(number) }
        pthread_mutex_lock(lock)
        while true {
            while queue.isEmpty {
                guard !isEnded else {
                    count -= 1
                    pthread_mutex_unlock(lock)
                    Self.numbers.withLock { _ = $0.remove(number) }
                    return
                }
                idle += 1
                pthread_cond_wait(wanted, lock)
                idle -= 1
            }
            let work = queue.removeFirst()
            pthread_mutex_unlock(lock)
            work()
            pthread_mutex_lock(lock)
        }
    }
}
