// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostDispatch
import Synchronization
import Testing

@Suite struct RunWaitersTests {
    private static func request(_ number: UInt64) -> RunID { RunID(high: 1, low: number) }

    /// Makes a continuation wait, and returns what it is resumed with.
    @MainActor private func wait(
        _ waiters: RunWaiters,
        _ number: UInt64,
        for request: RunID
    ) -> Task<Bool, Never> {
        Task { @MainActor in
            await withCheckedContinuation { continuation in
                waiters.add(continuation, number: number, for: request)
            } != nil
        }
    }

    @MainActor @Test func `All callers of a request are resumed, and no others`() async throws {
        let waiters = RunWaiters()
        let (first, second) = (Self.request(1), Self.request(2))
        let tasks = [first, first, second].map { wait(waiters, waiters.makeNumber(), for: $0) }
        while !waiters.isAwaited(second) { await Task.yield() }
        #expect(waiters.count == 2)
        waiters.finish(first, with: nil)
        #expect(await tasks[0].value == false)
        #expect(await tasks[1].value == false)
        #expect(!waiters.isAwaited(first) && waiters.isAwaited(second))
        waiters.finish(second, with: nil)
        #expect(await tasks[2].value == false)
        #expect(waiters.count == 0)
        // A request without callers.
        waiters.finish(first, with: nil)
    }

    @MainActor @Test func `A caller that leaves is removed once`() async throws {
        let waiters = RunWaiters()
        let request = Self.request(1)
        let (one, other) = (waiters.makeNumber(), waiters.makeNumber())
        #expect(one != other)
        let tasks = [wait(waiters, one, for: request), wait(waiters, other, for: request)]
        while waiters.count == 0 { await Task.yield() }
        await Task.yield()
        waiters.remove(one, for: request)?.resume(returning: nil)
        #expect(waiters.remove(one, for: request) == nil)
        #expect(waiters.isAwaited(request))
        waiters.remove(other, for: request)?.resume(returning: nil)
        #expect(!waiters.isAwaited(request) && waiters.count == 0)
        for task in tasks { #expect(await task.value == false) }
    }
}
