// SPDX-License-Identifier: Apache-2.0

@testable import BghostLinux
import Glibc
import Synchronization
import Testing

@Suite(.enabled(if: (ProcessorSet.ofThisThread?.count ?? 1) > 1))
struct ProcessorSetTests {
    @Test
    func `Threads that are placed are let go`() throws {
        let all = try #require(ProcessorSet.ofThisThread)
        let thread = WorkThread()
        defer { thread.end() }
        let core = Mutex<ProcessorSet?>(nil)
        let isPlaced = ThreadGate()
        thread.perform {
            let current = ProcessorSet.current
            core.withLock { $0 = current }
            _ = current?.bind(thread: 0)
            isPlaced.open()
        }
        isPlaced.wait()
        let one = try #require(core.withLock { $0 })
        #expect(one.count == 1)
        #expect(ProcessorSet(ofThread: thread.id)?.count == 1)
        // Too many threads: nothing is done.
        #expect(!one.give(threadsOf: getpid(), to: all, limit: 1))
        #expect(ProcessorSet(ofThread: thread.id)?.count == 1)
        #expect(one.give(threadsOf: getpid(), to: all))
        #expect(ProcessorSet(ofThread: thread.id)?.count == all.count)
    }

    @Test
    func `A process that is gone has no threads`() throws {
        let all = try #require(ProcessorSet.ofThisThread)
        #expect(!all.give(threadsOf: .max, to: all))
        #expect(ProcessorSet(ofThread: .max) == nil)
    }
}
