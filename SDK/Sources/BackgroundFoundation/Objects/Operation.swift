// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Work for an `OperationQueue`: override `main()`, and check `isCancelled` in it.
///
/// An operation that continues after `start()` has returned overrides `isFinished`, and calls
/// `didChangeValue(forKey: "isFinished")` at its end.
open class Operation: NSObject, @unchecked Sendable {
    // @unchecked: the lock protects all state here; a subclass protects its own.
    private struct State {
        var name: String?
        var isCancelled = false
        var isExecuting = false
        var isFinished = false
        /// Whether the completion callbacks have been called.
        var isOver = false
        var block: (@Sendable () -> Void)?
        var dependencies: [Operation] = []
        var ended: (@Sendable () -> Void)?
        /// The queue that has it.
        weak var queue: OperationQueue?
        /// Queues with operations that wait for this one; retained, so that these start.
        var waiting: [ObjectIdentifier: OperationQueue] = [:]
    }

    private struct Ends {
        var block: (@Sendable () -> Void)?
        var ended: (@Sendable () -> Void)?
        var waiting: [OperationQueue] = []
    }

    private let state = Mutex(State())
    /// The name, for debugging.
    public var name: String? {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    /// Performs the work; the default does nothing.
    open func main() {}

    /// Calls `main()`, unless the operation was cancelled before.
    open func start() {
        let goes = state.withLock { state in
            state.isExecuting = !state.isCancelled
            return state.isExecuting
        }
        if goes { main() }
        state.withLock { state in
            state.isExecuting = false
            state.isFinished = true
        }
        endIfFinished()
    }

    /// Cancels the operation cooperatively; running work must check `isCancelled`.
    ///
    /// An operation of a queue that waits for others then waits no longer, and ends without its work.
    open func cancel() {
        let queue = state.withLock { state in
            state.isCancelled = true
            return state.queue
        }
        queue?.startNext()
    }

    /// Whether the operation was cancelled.
    open var isCancelled: Bool { state.withLock { $0.isCancelled } }
    /// Whether the operation is running.
    open var isExecuting: Bool { state.withLock { $0.isExecuting } }
    /// Whether the operation has finished.
    open var isFinished: Bool { state.withLock { $0.isFinished } }
    /// Whether all dependencies have finished.
    open var isReady: Bool { dependencies.allSatisfy(\.isFinished) }
    /// The operations that must finish before this one starts.
    open var dependencies: [Operation] { state.withLock { $0.dependencies } }

    /// Adds an operation that must finish before this one starts.
    open func addDependency(_ operation: Operation) {
        let queue = state.withLock { state in
            state.dependencies.append(operation)
            return state.queue
        }
        if let queue { operation.add(waiting: queue) }
    }

    /// Notes the queue that has the operation, which the operations that it waits for tell of their end.
    func join(_ queue: OperationQueue) {
        state.withLock { $0.queue = queue }
        for dependency in dependencies { dependency.add(waiting: queue) }
    }

    private func add(waiting queue: OperationQueue) {
        // After its end, the queue finds it finished.
        state.withLock { state in
            if !state.isOver { state.waiting[ObjectIdentifier(queue)] = queue }
        }
    }

    /// A closure that is called once the operation has finished, or at once if it already has.
    ///
    /// In Apple's framework, a closure that is set too late is not called.
    open var completionBlock: (@Sendable () -> Void)? {
        get { state.withLock { $0.block } }
        set {
            let isOver = state.withLock { state in
                state.block = state.isOver ? nil : newValue
                return state.isOver
            }
            if isOver { newValue?() }
        }
    }

    /// Announces a change of a property; it has no effect here.
    open func willChangeValue(forKey key: String) {}

    /// Announces that a property has changed: `isFinished` ends the operation.
    open func didChangeValue(forKey key: String) {
        if key == "isFinished" || key == "finished" { endIfFinished() }
    }

    /// Starts the operation for a queue.
    func execute(_ ended: @escaping @Sendable () -> Void) {
        state.withLock { $0.ended = ended }
        start()
        endIfFinished()
    }

    private func endIfFinished() {
        guard isFinished else { return }
        let ends = state.withLock { state in
            guard !state.isOver else { return Ends() }
            state.isOver = true
            defer {
                state.block = nil
                state.ended = nil
                state.waiting = [:]
            }
            return Ends(
                block: state.block,
                ended: state.ended,
                waiting: Array(state.waiting.values)
            )
        }
        ends.block?()
        ends.ended?()
        for queue in ends.waiting { queue.startNext() }
    }
}

/// An operation that runs a closure.
public final class BlockOperation: Operation, @unchecked Sendable {
    // @unchecked: it adds no mutable state.
    private let block: @Sendable () -> Void

    /// Creates an operation from a closure.
    public init(block: @escaping @Sendable () -> Void) { self.block = block }

    /// Runs the closure.
    public override func main() { block() }
}
