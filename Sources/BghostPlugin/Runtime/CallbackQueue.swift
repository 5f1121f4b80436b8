// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Makes the plugin's callbacks for the runs of one slot, except start(): one after the other, in
/// order, on a thread of the pool.
///
/// The thread that receives the daemon's answers must not make them: a callback may ask the daemon,
/// and would then wait for an answer that only this thread could deliver. A callback that does not
/// return delays only its own slot.
final class CallbackQueue: Sendable {
    typealias Callback = @Sendable () -> Void

    /// The first element is being executed.
    private let waiting = Mutex<[Callback]>([])

    /// Queues a callback behind those that wait.
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
