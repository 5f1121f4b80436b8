// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What calls back into the plugin for the runs of one lane, besides start(): one after the other, in
/// the order in which it came, on a thread of the pool.
///
/// Not on the thread that takes the daemon's answers: a callback may ask the daemon, and would wait
/// there for an answer that only this thread could bring. A callback that does not return holds up its
/// own run and nobody else's.
final class CallbackQueue: Sendable {
    typealias Callback = @Sendable () -> Void

    /// The first is under way.
    private let waiting = Mutex<[Callback]>([])

    /// Has a callback made after those that wait.
    func add(on pool: ThreadPool, _ callback: @escaping Callback) {
        let isFirst = waiting.withLock {
            $0.append(callback)
            return $0.count == 1
        }
        if isFirst { pool.run { self.work(from: callback) } }
    }

    private func work(from first: @escaping Callback) {
        var next: Callback? = first
        while let callback = next {
            callback()
            next = waiting.withLock {
                $0.removeFirst()
                return $0.first
            }
        }
    }
}
