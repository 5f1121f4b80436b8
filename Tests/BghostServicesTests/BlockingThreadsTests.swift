// SPDX-License-Identifier: Apache-2.0

import BghostLinux
@testable import BghostServices
import Synchronization
import Testing

@Suite struct BlockingThreadsTests {
    @Test func `A thread is started when it is needed, and only once`() throws {
        let threads = BlockingThreads()
        for purpose in BlockingThreads.Purpose.allCases {
            #expect(threads.existingThread(for: purpose) == nil)
        }
        let data = try #require(threads.thread(for: .data))
        #expect(threads.thread(for: .data) === data)
        #expect(threads.existingThread(for: .data) === data)
        #expect(threads.existingThread(for: .processes) == nil)
        #expect(threads.thread(for: .inspection) !== data)
        threads.end()
    }

    @Test func `Work queued before the close is executed`() async throws {
        let threads = BlockingThreads()
        let thread = try #require(threads.thread(for: .inspection))
        let (stream, done) = AsyncStream<Int>.makeStream()
        for number in 0..<3 {
            thread.perform {
                done.yield(number)
                if number == 2 { done.finish() }
            }
        }
        threads.end()
        #expect(await stream.reduce(into: []) { $0.append($1) } == [0, 1, 2])
    }
}
