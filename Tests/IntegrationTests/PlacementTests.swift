// SPDX-License-Identifier: Apache-2.0

import BghostConfiguration
@testable import BghostHost
@testable import BghostLinux
import BghostModel
import Glibc
import Testing

extension Integration {
    /// Where short and long runs are carried out.
    @Suite(.enabled(if: (ProcessorSet.ofThisThread?.count ?? 1) > 1))
    struct PlacementTests {
        /// Runs are short up to this here, so that the ones of a busy machine are.
        static let short: UInt64 = 2_000_000_000

        @Test(.timeLimit(.minutes(5)), arguments: [Isolation.worker, .inProcess])
        func `A short run is pinned to one processor, a long one is not`(
            isolation: Isolation
        ) async throws {
            let manifest = try TestManifest.misbehave(isolation: isolation)
            try await withDaemon(
                manifest,
                adjust: { $0.timeouts.shortRun = Self.short },
                { daemon in
                    // From its first run it is seen that it is short.
                    for _ in 0..<2 { _ = try await daemon.run("echo") }
                    let kept = await daemon.keptThreads
                    #expect(kept.filter(isOnOne) != [])
                    let long = try await daemon.begin("honour-cancel-poll")
                    // Whatever thread it has.
                    await untilEverywhere(kept)
                    #expect(await daemon.host.expire(run: long.id))
                    #expect(try await daemon.end(of: long).outcome == .cancelledClean)
                }
            )
        }

        @Test(.timeLimit(.minutes(5)))
        func `Without runs no processor is pinned`() async throws {
            try await withDaemon(
                try TestManifest.misbehave(),
                adjust: { $0.timeouts.shortRun = 20_000_000 },
                { daemon in
                    for _ in 0..<3 { _ = try await daemon.run("echo") }
                    await untilEverywhere(daemon.keptThreads)
                }
            )
        }

        @Test(.timeLimit(.minutes(5)))
        func `Two runs at once are not pinned to one processor`() async throws {
            let manifest = try TestManifest.misbehave(overlap: .allow, slots: 4)
            try await withDaemon(
                manifest,
                adjust: { $0.timeouts.shortRun = Self.short },
                { daemon in
                    for _ in 0..<2 { _ = try await daemon.run("echo") }
                    let threads = await daemon.keptThreads
                    #expect(threads.filter(isOnOne) != [])
                    let first = try await daemon.begin("honour-cancel")
                    let second = try await daemon.begin("honour-cancel-fd")
                    #expect(threads.filter(isOnOne) == [])
                    for run in [first, second] { #expect(await daemon.host.expire(run: run.id)) }
                    for run in [first, second] { _ = try await daemon.end(of: run) }
                }
            )
        }
    }
}

/// Whether a thread may run on one processor only.
private func isOnOne(_ thread: Int32) -> Bool {
    ProcessorSet(ofThread: thread)?.count == 1
}

private func untilEverywhere(_ threads: [Int32]) async {
    while threads.contains(where: isOnOne) { await Task.yield() }
}

extension RunningHost {
    /// The reactor, and the main threads of the workers of `misbehave`.
    fileprivate var keptThreads: [Int32] {
        get async { await workers(of: "misbehave") + [host.reactorThread] }
    }
}
