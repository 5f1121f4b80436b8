// SPDX-License-Identifier: Apache-2.0

import BghostBase
internal import BghostLinux
internal import Glibc
internal import Synchronization

/// Clients that submit so many requests in a second together, each of which runs at once.
final class Load: Sendable {
    private struct State {
        var samples: [UInt64] = []
        var submitted = 0
        var running = 0
        var failure: String?
        var isEnding = false
    }

    /// As many connections as keep the rate while each waits for the disk.
    private static let clients = 4

    private let state = Mutex(State())
    private let threads: [WorkThread]
    private let began = Monotonic.now

    init(_ socket: String, perSecond: Int) {
        threads = (0..<Self.clients).map { _ in WorkThread() }
        let period = UInt64(1_000_000_000 * Self.clients / perSecond)
        state.withLock { $0.running = Self.clients }
        for (number, thread) in threads.enumerated() {
            let first = began + period * UInt64(number) / UInt64(Self.clients)
            thread.perform { [self] in
                do {
                    try submit(to: socket, first: first, every: period, from: number * 97)
                } catch {
                    state.withLock { $0.failure = "\(error)" }
                }
                state.withLock { $0.running -= 1 }
            }
        }
    }

    private func submit(
        to socket: String,
        first: MonotonicInstant,
        every period: UInt64,
        from number: Int
    ) throws {
        let client = try UnixClient(socket)
        var (next, number) = (first, number)
        while !state.withLock({ $0.isEnding }) {
            let now = Monotonic.now
            if next > now { usleep(UInt32(next.since(now) / 1000)) }
            next = next + period
            number += 1
            let start = Monotonic.now
            try client.call(
                "POST",
                "/v1/submit",
                body: #"{"task":"bench.\#(number % BenchHistory.tasks)"}"#
            )
            let time = Monotonic.now.since(start)
            state.withLock { state in
                state.samples.append(time)
                state.submitted += 1
            }
        }
    }

    /// Returns when the first second is over: workers have started by then.
    func warmUp() throws {
        usleep(1_000_000)
        try check()
    }

    /// The times since the last call, nanoseconds.
    func takeSamples() -> [UInt64] {
        state.withLock { state in
            defer { state.samples.removeAll(keepingCapacity: true) }
            return state.samples
        }
    }

    /// The 99th percentile since the last call, microseconds.
    func takeP99() throws -> Double {
        try check()
        let sorted = takeSamples().sorted()
        guard !sorted.isEmpty else { throw BenchFailure(description: "nothing was submitted") }
        return Double(sorted[(sorted.count - 1) * 99 / 100]) / 1e3
    }

    private func check() throws {
        if let failure = state.withLock(\.failure) { throw BenchFailure(description: failure) }
    }

    /// Ends the clients.
    ///
    /// - Returns: how many requests were submitted in a second.
    func end() throws -> Double {
        let seconds = Double(Monotonic.now.since(began)) / 1e9
        let submitted = state.withLock { state in
            state.isEnding = true
            return state.submitted
        }
        while state.withLock({ $0.running > 0 }) { usleep(1000) }
        for thread in threads { thread.end() }
        try check()
        return Double(submitted) / seconds
    }
}
