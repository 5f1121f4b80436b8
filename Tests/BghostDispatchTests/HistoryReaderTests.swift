// SPDX-License-Identifier: Apache-2.0

@testable import BghostDispatch
import BghostLinux
@testable import BghostServices
import BghostStore
import Dispatch
import Synchronization
import Testing

/// The owner of questions to the store, without a daemon and without a process.
@MainActor @Suite struct HistoryReaderTests {
    private let spawner: Spawner
    private let threads = BlockingThreads()
    private let history: HistoryReader

    init() throws {
        spawner = try Spawner()
        history = HistoryReader(MemoryStore(), threads, spawner: spawner)
    }

    private func end() {
        spawner.end()
        threads.end()
    }

    @Test func `A query runs on another thread and returns on the caller's actor`() async {
        defer { end() }
        let gate = DispatchSemaphore(value: 0)
        let answer = Task { @MainActor in
            let answer = await history.ask { _ in
                gate.wait()
                return 7
            }
            MainActor.preconditionIsolated()
            return answer
        }
        // The actor continues while the query waits.
        while threads.existingThread(for: .history) == nil { await Task.yield() }
        gate.signal()
        #expect(await answer.value == 7)
    }

    @Test func `Queries are answered in order`() async {
        defer { end() }
        let answered = Mutex<[Int]>([])
        let questions = (0..<20).map { number in
            Task { @MainActor in
                await history.ask { _ in answered.withLock { $0.append(number) } }
            }
        }
        for question in questions { await question.value }
        #expect(answered.withLock { $0 } == Array(0..<20))
    }

    @Test func `What a run waits for precedes the questions of clients`() async {
        defer { end() }
        let answered = Mutex<[Int]>([])
        let gate = DispatchSemaphore(value: 0)
        var questions = [Task { await history.ask { _ in gate.wait() } }]
        while threads.existingThread(for: .history) == nil { await Task.yield() }
        for number in 0..<4 {
            let isAsked = Mutex(false)
            questions.append(
                Task {
                    isAsked.withLock { $0 = true }
                    await history.ask(isOwn: number == 3) { _ in
                        answered.withLock { $0.append(number) }
                    }
                }
            )
            // A task on the same actor runs to the question before the test goes on.
            while !isAsked.withLock({ $0 }) { await Task.yield() }
        }
        gate.signal()
        for question in questions { await question.value }
        #expect(answered.withLock { $0 } == [3, 0, 1, 2])
    }

    @Test func `Closing the reader waits for all queries`() async {
        defer { end() }
        let gate = DispatchSemaphore(value: 0)
        let answers = Mutex(0)
        for _ in 0..<3 {
            Task { @MainActor in
                await history.ask { _ in gate.wait() }
                answers.withLock { $0 += 1 }
            }
        }
        while threads.existingThread(for: .history) == nil { await Task.yield() }
        for _ in 0..<3 { gate.signal() }
        await history.finish()
        #expect(answers.withLock { $0 } == 3)
        // The threads may be gone now, and questions have answers all the same.
        threads.end()
        #expect(await history.ask { _ in 7 } == 7)
    }
}
