// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import CBghostSystem
internal import Glibc
internal import Synchronization

/// A thread of the checker that performs tasks in order: a plugin function that does not return
/// blocks this thread and not the check.
final class Line: Sendable {
    private struct State {
        var queue: [@Sendable () -> Void] = []
        var isEnding = false
    }

    private let state = Mutex(State())
    private let event = WaitableEvent()
    private let number = Mutex<Int32>(0)
    private let hasThread = Mutex(false)
    private static let numbers = Mutex<Set<Int32>>([])

    /// The ids of all threads of this kind.
    static var threads: Set<Int32> { numbers.withLock { $0 } }

    /// Starts the thread, which runs until the owner ends it.
    init() { begin() }

    /// Creates a line with a running thread.
    static func begun() throws(Finding) -> Line {
        let line = Line()
        try line.requireThread()
        return line
    }

    /// A check that the machine has no thread for must not be taken for a fault of the plugin.
    func requireThread() throws(Finding) {
        guard !begin() else { return }
        throw Finding.failed(
            "the check was not made: this machine has no thread for it",
            fix: "raise the limit of processes (`ulimit -u`, TasksMax= of a unit), then check again"
        )
    }

    /// Starts the thread if it has not been started: at first the machine may have had none.
    ///
    /// - Returns: whether there is one.
    @discardableResult
    func begin() -> Bool {
        hasThread.withLock { hasThread in
            if !hasThread { hasThread = start() }
            return hasThread
        }
    }

    private func start() -> Bool {
        var thread = pthread_t()
        let started = WaitableEvent()
        let body = Unmanaged.passRetained(
            Body { [self] in
                let number = bgs_thread_id()
                self.number.withLock { $0 = number }
                Self.numbers.withLock { _ = $0.insert(number) }
                started.signal(0)
                work()
            }
        )
        let error = pthread_create(
            &thread,
            nil,
            { argument in
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            },
            body.toOpaque()
        )
        guard error == 0 else {
            body.release()
            return false
        }
        pthread_detach(thread)
        // The thread's id must be known before the plugin's threads are counted. On a machine that
        // does not schedule the thread within 5 s, every other check fails too.
        _ = started.wait(milliseconds: 5000)
        return true
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private func work() {
        while true {
            while let next = state.withLock({ $0.queue.isEmpty ? nil : $0.queue.removeFirst() }) {
                next()
            }
            guard !state.withLock({ $0.isEnding && $0.queue.isEmpty }) else { return }
            // The value of the event says nothing; the queue does.
            _ = event.wait()
        }
    }

    /// Ends the thread after its queued work.
    func end() {
        state.withLock { $0.isEnding = true }
        event.signal(0)
    }

    /// Whether the thread has ended, including its destructors of thread-local data.
    var isGone: Bool {
        access("/proc/self/task/\(number.withLock { $0 })", F_OK) != 0
    }

    /// Queues work.
    func perform(_ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.queue.append(work) }
        begin()
        event.signal(0)
    }

    /// Queues work and waits for it.
    ///
    /// - Returns: its duration in nanoseconds; `nil` if it did not return in time.
    func time(milliseconds: Int, _ work: @escaping @Sendable () -> Void) -> UInt64? {
        let done = WaitableEvent()
        perform {
            let start = Monotonic.now
            work()
            done.signal(Monotonic.now.since(start))
        }
        return done.wait(milliseconds: milliseconds)
    }
}

/// The result of work on another thread.
final class Later<T: Sendable>: Sendable {
    private let value = Mutex<T?>(nil)
    private let event = WaitableEvent()

    func set(_ value: T) {
        self.value.withLock { $0 = value }
        event.signal(0)
    }

    /// Waits for the result, on one thread only; `nil` after the timeout.
    func wait(milliseconds: Int) -> T? {
        guard event.wait(milliseconds: milliseconds) != nil else { return nil }
        return value.withLock { $0 }
    }
}
