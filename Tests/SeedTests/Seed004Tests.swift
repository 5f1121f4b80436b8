// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BackgroundTasksTesting
import FoundationEssentials
import Seed004Refresh
import Seed004Training
import Synchronization
import Testing

/// "Quản lý background tasks với Task Scheduler trên iOS 13", an article on launch handlers.
@Suite(.timeLimit(.minutes(5)))
struct Seed004Tests {
    @Test
    func `The refresh completes, submits the next, and stops when it expires`()
        async throws
    {
        let host = try TestHost(
            seed004Refresh,
            now: Date.now.formatted(.iso8601),
            patience: patience
        )
        let identifier = "pl.snowdog.example.refresh"
        let run = try await host.launch(identifier)
        #expect(run.outcome == .succeeded)
        let next = try #require(host.pending.first)
        #expect(next.identifier == identifier)
        let date = try #require(next.earliestBeginDate)
        #expect(date >= host.now + 3599 && milliseconds(date) <= milliseconds(.now + 3600))

        // The work continues until the expiration handler cancels it. It computes all the time, so the host
        // waits for as long as its patience before it cancels.
        isOpen.withLock { $0 = false }
        let impatient = try TestHost(seed004Refresh, patience: .seconds(15))
        let expired = try await impatient.launchAndExpire(identifier)
        #expect(expired.stopReason == .expired)
        #expect(expired.outcome == .cancelled)
    }

    @Test func `Training waits for power and network`() async throws {
        // As on iOS, where a processing request needs its background mode.
        let host = try TestHost(
            seed004Training,
            tasks: """
                {"version": 1, "plugins": {"training": {"library": "training.so"}},
                 "tasks": {"launch": {"plugin": "training"},
                           "pl.snowdog.example.train": {"plugin": "training", "kind": "processing"}}}
                """,
            patience: patience
        )
        let identifier = "pl.snowdog.example.train"
        host.set(.externalPower, to: false)
        host.set(.network, to: false)
        try await host.launch("launch")
        #expect(host.pending.map(\.identifier) == [identifier])
        #expect(host.pending.first?.waitingFor.count == 2)
        host.set(.network, to: true)
        try await host.advance(by: .seconds(60))
        #expect(calls.all.isEmpty)
        host.set(.externalPower, to: true)
        try await host.advance(by: .zero)
        #expect(calls.all == [identifier])
        #expect(host.runs.last?.outcome == .succeeded)
    }
}

/// As a request keeps its date.
private func milliseconds(_ date: Date) -> Int64 {
    Int64((date.timeIntervalSince1970 * 1000).rounded())
}
