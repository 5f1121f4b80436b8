// SPDX-License-Identifier: Apache-2.0

import BackgroundFoundation
import BackgroundTasks
import Dispatch
import Glibc

/// State as a view model has it.
@MainActor final class Counter {
    var count = 0

    func add() -> Int {
        MainActor.assertIsolated()
        count += 1
        return count
    }

    func waitUntilCancelled() async throws {
        defer { count = -1 }
        let (stream, end) = AsyncStream<Never>.makeStream()
        for await _ in stream {}
        // The stream ends with its continuation.
        withExtendedLifetime(end) {}
        try Task.checkCancellation()
    }
}

/// How far each way to the main actor came.
func onMainActor() async throws -> [String: Int] {
    let counter = Counter()
    let first = await counter.add()
    let second = await MainActor.run { counter.add() }
    let third = await Task { @MainActor in counter.add() }.value
    // The thread is the process's first one, as it is on iOS.
    let isMain = await MainActor.run { isFirstThread ? 1 : 0 }
    return ["first": first, "second": second, "third": third, "isMain": isMain]
}

/// Whether the calling thread is the one with which its process began.
private var isFirstThread: Bool {
    var path = [CChar](repeating: 0, count: 64)
    let count = readlink("/proc/thread-self", &path, path.count)
    // PID/task/TID
    let parts = path.prefix(max(0, count)).split(separator: CChar(UInt8(ascii: "/")))
    return parts.count == 3 && parts[0] == parts[2]
}

/// The same by Apple's queues: the real one, and the one of this SDK.
func onMainQueue() async throws -> [String: Int] {
    let counter = Counter()
    let real = await withCheckedContinuation { continuation in
        Dispatch.DispatchQueue.main.async {
            continuation.resume(returning: MainActor.assumeIsolated { counter.add() })
        }
    }
    let own = await withCheckedContinuation { continuation in
        BackgroundFoundation.DispatchQueue.main.async {
            continuation.resume(returning: MainActor.assumeIsolated { counter.add() })
        }
    }
    let later = await withCheckedContinuation { continuation in
        Dispatch.DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(5)) {
            continuation.resume(returning: MainActor.assumeIsolated { counter.add() })
        }
    }
    return ["real": real, "own": own, "later": later]
}

/// Blocks the thread on which the handler begins, which is not the main thread.
func blockUntilMainHasRun() {
    let isDone = DispatchSemaphore(value: 0)
    Dispatch.DispatchQueue.main.async { isDone.signal() }
    isDone.wait()
}

/// Ends only by being cancelled, and cleans up on the main actor.
func waitOnMainActor() async throws {
    let counter = Counter()
    do {
        try await counter.waitUntilCancelled()
    } catch {
        TaskContext.current?.log(.info, "cleaned up: \(await counter.count)")
        throw error
    }
}

/// Never returns, in a function with a name.
@inline(never) func stayForGood() { while getppid() >= 0 { pause() } }
