// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import CBghostSystem
internal import Glibc
internal import Synchronization

/// A thread of the checker's own that does one thing after the other: a plugin that does not return
/// holds this one up, and not the check.
final class Line: Sendable {
    private struct State {
        var queue: [@Sendable () -> Void] = []
        var isEnding = false
    }

    private let state = Mutex(State())
    private let bell = Bell()
    private let number = Mutex<Int32>(0)
    private static let numbers = Mutex<Set<Int32>>([])

    /// All threads of this kind, by their numbers.
    static var threads: Set<Int32> { numbers.withLock { $0 } }

    /// Starts the thread, which goes on until it is told to end.
    init() {
        var thread = pthread_t()
        let started = Bell()
        let body = Unmanaged.passRetained(
            Body { [self] in
                let number = bgs_thread_id()
                self.number.withLock { $0 = number }
                Self.numbers.withLock { _ = $0.insert(number) }
                started.ring(with: 0)
                work()
            }
        )
        pthread_create(
            &thread,
            nil,
            { argument in
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            },
            body.toOpaque()
        )
        pthread_detach(thread)
        // Its number must be known before anybody looks for the plugin's threads.
        _ = started.wait(milliseconds: 5000)
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
            _ = bell.wait(milliseconds: .max)
        }
    }

    /// Has the thread end once it has done what it has to do.
    func end() {
        state.withLock { $0.isEnding = true }
        bell.ring(with: 0)
    }

    /// Whether the thread has ended, with all that is done at the end of one.
    var isGone: Bool {
        access("/proc/self/task/\(number.withLock { $0 })", F_OK) != 0
    }

    /// Does something in its turn.
    func perform(_ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.queue.append(work) }
        bell.ring(with: 0)
    }

    /// Does something in its turn and waits for that.
    ///
    /// - Returns: how many nanoseconds it took; `nil` if it did not come back in time.
    func time(milliseconds: Int, _ work: @escaping @Sendable () -> Void) -> UInt64? {
        let done = Bell()
        perform {
            let start = Monotonic.now
            work()
            done.ring(with: Monotonic.now - start)
        }
        return done.wait(milliseconds: milliseconds)
    }
}

/// What comes of work on another thread.
final class Later<T: Sendable>: Sendable {
    private let value = Mutex<T?>(nil)
    private let bell = Bell()

    func bring(_ value: T) {
        self.value.withLock { $0 = value }
        bell.ring(with: 0)
    }

    /// For one waiting thread; `nil` if it was not in time.
    func wait(milliseconds: Int) -> T? {
        guard bell.wait(milliseconds: milliseconds) != nil else { return nil }
        return value.withLock { $0 }
    }
}
