// SPDX-License-Identifier: Apache-2.0

import BghostModel
import BghostPolicy
@testable import BghostStore
import BghostTestSupport
import Dispatch
import Glibc
import Synchronization
import Testing

/// On which thread commits are carried out, and in which order they are answered.
@Suite(.ownThreads) struct CommitThreadTests {
    let folder: TemporaryDirectory
    let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.file("state.db")
    }

    private func open() throws -> SQLiteStore {
        try SQLiteStore(path: path) { Issue.record("\($0)") }
    }

    private static func accept(_ number: Int) -> [StoreChange] {
        [.accepted(Sample.request(number), replacing: nil)]
    }

    @Test(.timeLimit(.minutes(5))) func `A lone commit is answered before the call returns`() throws
    {
        let store = try open()
        let isAnswered = Mutex(false)
        store.commit(Self.accept(1)) { result in
            isAnswered.withLock { $0 = (try? result.get()) != nil }
        }
        #expect(isAnswered.withLock { $0 })
        store.close()
    }

    /// A commit without a completion must not block its caller.
    @Test(.timeLimit(.minutes(5))) func `A commit without a completion does not block its caller`()
        throws
    {
        let store = try open()
        let caller = pthread_self()
        let thread = Mutex<pthread_t>(caller)
        store.commit(Self.accept(1), isAwaited: false) { _ in
            thread.withLock { $0 = pthread_self() }
        }
        #expect(try store.recover().pending.count == 1)
        #expect(thread.withLock { $0 } != caller)
        store.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func `The thread that writes answers at rest and after its work`() throws {
        let store = try open()
        let caller = pthread_self()
        let threads = Mutex<[pthread_t]>([])
        let answered = DispatchSemaphore(value: 0)
        for _ in 0..<3 {
            _ = try store.recover()
            store.answer {
                threads.withLock { $0.append(pthread_self()) }
                answered.signal()
            }
            answered.wait()
        }
        let found = threads.withLock { $0 }
        #expect(Set(found).count == 1 && !found.contains(caller))
        store.close()
        // There is no thread any more, so nothing hangs.
        store.answer { answered.signal() }
        answered.wait()
    }

    /// A thread that waits for a disk must not look as if it worked.
    @Test(.timeLimit(.minutes(5))) func `A thread that hangs does not answer`() throws {
        let store = try open()
        _ = try store.recover()
        let (isHeld, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        store.commit(Self.accept(1), isAwaited: false) { _ in
            isHeld.signal()
            release.wait()
        }
        isHeld.wait()
        let answered = DispatchSemaphore(value: 0)
        store.answer { answered.signal() }
        #expect(answered.wait(timeout: .now() + .milliseconds(50)) == .timedOut)
        release.signal()
        answered.wait()
        store.close()
    }

    /// A commit that a completion makes comes after it, on whichever thread it runs.
    @Test(.timeLimit(.minutes(5))) func `An answer may commit`() throws {
        let store = try open()
        let order = Mutex<[Int]>([])
        store.commit(Self.accept(1)) { _ in
            store.commit(Self.accept(2)) { _ in order.withLock { $0.append(2) } }
            order.withLock { $0.append(1) }
        }
        #expect(try store.recover().pending.map(\.id) == [Sample.id(1), Sample.id(2)])
        #expect(order.withLock { $0 } == [1, 2])
        store.close()
    }

    /// The numbers of commits by their threads, in the order of their answers.
    private final class Answers: Sendable {
        private let lists = Mutex<[[Int]]>(Array(repeating: [], count: 4))

        func add(_ number: Int, of thread: Int) { lists.withLock { $0[thread].append(number) } }

        var all: [[Int]] { lists.withLock { $0 } }
    }

    /// Several threads, each waiting for its answer or not: none is lost, and each gets its answers
    /// in the order of its commits.
    @Test(.timeLimit(.minutes(5)), arguments: [1, 2, 3] as [UInt64])
    func `Threads get their answers in order`(seed: UInt64) async throws {
        let store = try open()
        let answers = Answers()
        await withTaskGroup { group in
            for thread in 0..<4 {
                group.addTask {
                    var random = SeededGenerator(seed: seed &* 7 &+ UInt64(thread))
                    for number in 0..<200 {
                        let changes = Self.accept(1 + number * 4 + thread)
                        let isAwaited = Bool.random(using: &random)
                        guard Int.random(in: 0..<3, using: &random) == 0 else {
                            store.commit(changes, isAwaited: isAwaited) { _ in
                                answers.add(number, of: thread)
                            }
                            continue
                        }
                        await withCheckedContinuation { continuation in
                            store.commit(changes, isAwaited: isAwaited) { _ in
                                answers.add(number, of: thread)
                                continuation.resume()
                            }
                        }
                    }
                }
            }
        }
        let kept = try store.recover().pending.count
        #expect(kept == 800)
        #expect(answers.all == Array(repeating: Array(0..<200), count: 4))
        store.close()
    }

    @Test(.timeLimit(.minutes(5))) func `A closed store says so`() throws {
        let store = try open()
        store.close()
        let error = Mutex<StoreError?>(nil)
        store.commit(Self.accept(1)) { result in
            if case .failure(let failure) = result { error.withLock { $0 = failure } }
        }
        #expect(error.withLock { $0 }?.message.contains("is closed") == true)
        #expect(throws: StoreError.self) { try store.recover() }
        #expect(throws: StoreError.self) { try store.backup(to: folder.file("copy")) }
    }
}
