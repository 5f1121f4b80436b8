// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import Synchronization

/// Runs operations on Swift's pool, in the order in which they become ready.
public final class OperationQueue: Sendable {
    private struct Entry {
        let operation: Operation
        let context: TaskContext?
        var isStarted = false
        var isOver = false
    }

    private struct State {
        var entries: [Entry] = []
        var limit = OperationQueue.defaultMaxConcurrentOperationCount
        var isSuspended = false
    }

    /// As many concurrent operations as the pool permits.
    public static let defaultMaxConcurrentOperationCount = -1

    /// The queue whose operations run on `DispatchQueue.main`, one after the other.
    public static let main: OperationQueue = {
        let queue = OperationQueue(.main)
        queue.maxConcurrentOperationCount = 1
        return queue
    }()

    private let state = Mutex(State())
    /// Where its operations run; `nil` for Swift's pool.
    private let underlying: DispatchQueue?

    /// Creates a queue whose operations may overlap.
    public convenience init() { self.init(nil) }

    private init(_ underlying: DispatchQueue?) { self.underlying = underlying }

    /// The most concurrent operations; negative for no limit.
    public var maxConcurrentOperationCount: Int {
        get { state.withLock { $0.limit } }
        set {
            state.withLock { $0.limit = newValue }
            startNext()
        }
    }

    /// Whether the queue starts no further operations.
    public var isSuspended: Bool {
        get { state.withLock { $0.isSuspended } }
        set {
            state.withLock { $0.isSuspended = newValue }
            startNext()
        }
    }

    /// The waiting and running operations, in the order in which they were added.
    ///
    /// An operation that a launch handler has added remains until the handler returns, even if it
    /// has finished: the handler may still read the last one to set its completion block.
    public var operations: [Operation] {
        state.withLock { state in
            state.entries.removeAll { $0.isOver && $0.context?.isLaunching != true }
            return state.entries.map(\.operation)
        }
    }

    /// The number of waiting and running operations.
    public var operationCount: Int { operations.count }

    /// Adds an operation, which starts when it is ready and the limit permits.
    public func addOperation(_ operation: Operation) {
        state.withLock { $0.entries.append(Entry(operation: operation, context: .current)) }
        operation.join(self)
        startNext()
    }

    /// Adds an operation that runs a closure.
    public func addOperation(_ block: @escaping @Sendable () -> Void) {
        addOperation(BlockOperation(block: block))
    }

    /// Cancels all waiting and running operations.
    public func cancelAllOperations() { for operation in operations { operation.cancel() } }

    /// Starts the operations that are ready.
    func startNext() {
        while let entry = takeReady() {
            let run: @Sendable () -> Void = {
                TaskContext.$current.withValue(entry.context) {
                    entry.operation.execute {
                        self.ended(entry.operation)
                    }
                }
            }
            if let underlying {
                underlying.async(execute: run)
            } else {
                Task.detached(executorPreference: entry.context?.executor) { run() }
            }
        }
    }

    private func takeReady() -> Entry? {
        // Call this outside the lock, since `isReady` may be the plugin's code.
        let waiting = state.withLock { state in
            state.isSuspended ? [] : state.entries.filter { !$0.isStarted }.map(\.operation)
        }
        let ready = waiting.filter { $0.isReady || $0.isCancelled }
        return state.withLock { state in
            let running = state.entries.count { $0.isStarted && !$0.isOver }
            guard state.limit < 0 || running < state.limit else { return nil }
            let index = state.entries.firstIndex { entry in
                !entry.isStarted && ready.contains(entry.operation)
            }
            guard let index else { return nil }
            state.entries[index].isStarted = true
            return state.entries[index]
        }
    }

    private func ended(_ operation: Operation) {
        state.withLock { state in
            for index in state.entries.indices where state.entries[index].operation === operation {
                state.entries[index].isOver = true
            }
            state.entries.removeAll { $0.isOver && $0.context?.isLaunching != true }
        }
        startNext()
    }
}
