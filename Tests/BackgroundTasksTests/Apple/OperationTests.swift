// SPDX-License-Identifier: Apache-2.0

import BackgroundFoundation
import Testing

/// Operations that wait for others.
@Suite(.timeLimit(.minutes(5)))
struct OperationTests {
    @Test(arguments: [true, false])
    func `An operation starts after one of another queue`(isLate: Bool) async {
        let events = Events()
        let (one, other) = (OperationQueue(), OperationQueue())
        let first = BlockOperation { events.note("first") }
        let second = BlockOperation { events.note("second") }
        await withCheckedContinuation { continuation in
            second.completionBlock = { continuation.resume() }
            if !isLate { second.addDependency(first) }
            other.isSuspended = true
            other.addOperation(second)
            if isLate { second.addDependency(first) }
            other.isSuspended = false
            one.addOperation(first)
        }
        #expect(events.all == ["first", "second"])
    }

    @Test(arguments: [true, false])
    func `An operation that is cancelled ends without waiting`(all: Bool) async {
        let events = Events()
        let queue = OperationQueue()
        let operation = BlockOperation { events.note("done") }
        // It is never started.
        operation.addDependency(BlockOperation {})
        await withCheckedContinuation { continuation in
            operation.completionBlock = { continuation.resume() }
            queue.addOperation(operation)
            if all { queue.cancelAllOperations() } else { operation.cancel() }
        }
        #expect(operation.isFinished)
        #expect(events.all.isEmpty)
    }

    @Test func `An operation that is started by hand ends, and starts what waits for it`() async {
        let events = Events()
        let queue = OperationQueue()
        let first = BlockOperation { events.note("first") }
        first.completionBlock = { events.note("completed") }
        await withCheckedContinuation { continuation in
            let second = BlockOperation { continuation.resume() }
            second.addDependency(first)
            queue.addOperation(second)
            first.start()
        }
        #expect(events.all == ["first", "completed"])
    }
}
