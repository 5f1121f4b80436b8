// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A piece of work for an `OperationQueue`: override `main()`, which looks at `isCancelled`.
///
/// One that goes on after `start()` has returned overrides `isFinished`, and says
/// `didChangeValue(forKey: "isFinished")` at its end.
open class Operation: NSObject, @unchecked Sendable {
    // @unchecked: a subclass guards what it adds; everything here is under the lock.
    private struct State {
        var name: String?
        var isCancelled = false
        var isExecuting = false
        var isFinished = false
        /// Whether what follows the end has been called.
        var isOver = false
        var block: (@Sendable () -> Void)?
        var dependencies: [Operation] = []
        var ended: (@Sendable () -> Void)?
    }

    private struct Ends {
        var block: (@Sendable () -> Void)?
        var ended: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    /// For people.
    public var name: String? {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    /// Does the work; the default does none.
    open func main() {}

    /// Does `main()`, unless it was cancelled before.
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
    }

    /// Asks it to stop; what is under way must look.
    open func cancel() { state.withLock { $0.isCancelled = true } }

    /// Whether it was asked to stop.
    open var isCancelled: Bool { state.withLock { $0.isCancelled } }
    /// Whether it is under way.
    open var isExecuting: Bool { state.withLock { $0.isExecuting } }
    /// Whether it is over.
    open var isFinished: Bool { state.withLock { $0.isFinished } }
    /// Whether all that it waits for is over.
    open var isReady: Bool { dependencies.allSatisfy(\.isFinished) }
    /// What it waits for.
    open var dependencies: [Operation] { state.withLock { $0.dependencies } }

    /// Has it wait for another.
    open func addDependency(_ operation: Operation) {
        state.withLock { $0.dependencies.append(operation) }
    }

    /// Called once it is over; at once if it is.
    ///
    /// Unlike Apple's, one that is set too late is not lost.
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

    /// Says that a value is about to change; nothing follows.
    open func willChangeValue(forKey key: String) {}

    /// Says that a value has changed: `isFinished` ends the operation.
    open func didChangeValue(forKey key: String) {
        if key == "isFinished" || key == "finished" { endIfFinished() }
    }

    /// Starts it for a queue.
    func carryOut(_ ended: @escaping @Sendable () -> Void) {
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
            }
            return Ends(block: state.block, ended: state.ended)
        }
        ends.block?()
        ends.ended?()
    }
}

/// An operation that is a closure.
public final class BlockOperation: Operation, @unchecked Sendable {
    // @unchecked: nothing is added that changes.
    private let block: @Sendable () -> Void

    /// Makes an operation of a closure.
    public init(block: @escaping @Sendable () -> Void) { self.block = block }

    /// Does it.
    public override func main() { block() }
}
