// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import CBghostSystem
internal import Glibc
internal import Synchronization

/// A thread of the checker's own that does one thing after the other: a plugin that does not return
/// holds this one up, and not the check.
final class Line: Sendable {
    private let queue = Mutex<[@Sendable () -> Void]>([])
    private let bell = Bell()
    private static let numbers = Mutex<Set<Int32>>([])

    /// All threads of this kind, by their numbers.
    static var threads: Set<Int32> { numbers.withLock { $0 } }

    /// Starts the thread, which never ends.
    init() {
        var thread = pthread_t()
        let started = Bell()
        let body = Unmanaged.passRetained(
            Body { [self] in
                let number = bgs_thread_id()
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
            while let next = queue.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { next() }
            _ = bell.wait(milliseconds: .max)
        }
    }

    /// Does something in its turn.
    func perform(_ work: @escaping @Sendable () -> Void) {
        queue.withLock { $0.append(work) }
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
