// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BackgroundTasksTesting
import BghostTestSupport
import FoundationEssentials
import Glibc
import Synchronization
import Testing

/// Runtime, grace, and what cannot be waited for.
@Suite(.timeLimit(.minutes(5)))
struct LimitTests {
    private func plugin(
        _ body: @escaping @Sendable (TaskContext) async throws -> Void
    ) -> Plugin {
        Plugin(id: "org.example.limits", version: "1") { Handler("a", body) }
    }

    // MARK: Virtual limits

    @Test func `A run that outlasts its runtime is cancelled on the host's clock`() async throws {
        let host = try TestHost(plugin { try await $0.sleep(for: .seconds(3600)) })
        try await host.submit("a")
        try await host.advance(by: .seconds(24))
        #expect(host.runs.first?.outcome == nil)
        try await host.advance(by: .seconds(10))
        let run = try #require(host.runs.first)
        #expect(run.outcome == .cancelled)
        #expect(run.stopReason == .expired)
        #expect(run.duration == .seconds(25))
        #expect(run.endedAt == run.startedAt + 25)
    }

    @Test func `A run that does not stop is killed after its grace, and named`() async throws {
        let gate = Gate()
        let host = try TestHost(
            plugin { context in
                try? await context.sleep(for: .seconds(3600))
                // Cancelled; it waits on the host's clock all the same, out of the task's reach.
                await Task.detached { try? await context.sleep(for: .seconds(3600)) }.value
                await gate.pass()
            }
        )
        try await host.submit("a")
        try await host.advance(by: .seconds(25 + 5))
        let run = try #require(host.runs.first)
        #expect(run.outcome == .killed)
        #expect(run.stopReason == .expired)
        #expect(run.duration == .seconds(30))
        #expect(host.abandoned.map(\.handler) == ["a"])
        gate.open()
        // Its end is too late to count.
        while !host.abandoned.isEmpty { await Task.yield() }
        #expect(host.runs.first?.outcome == .killed)
    }

    @Test func `A run that stops late delays the next one`() async throws {
        let host = try TestHost(
            plugin { context in
                try? await context.sleep(for: .seconds(3600))
                // Cancelled; it continues for a while, out of the task's reach.
                await Task.detached { try? await context.sleep(for: .seconds(4)) }.value
            }
        )
        try await host.submit("a")
        try await host.advance(by: .seconds(25 + 4))
        try await host.submit("a")
        let waiting = try #require(host.pending.first)
        #expect(waiting.waitingFor.first?.contains("throttled until") == true)
        try await host.advance(by: .seconds(59))
        #expect(host.runs.count == 1)
        try await host.advance(by: .seconds(1))
        #expect(host.runs.count == 2)
    }

    @Test func `A handler that wakes at its deadline is in time`() async throws {
        let host = try TestHost(
            plugin { context in
                try await context.clock.sleep(until: context.deadline)
            }
        )
        try await host.submit("a")
        try await host.advance(by: .seconds(60))
        #expect(host.runs.first?.outcome == .succeeded)
        #expect(host.runs.first?.duration == .seconds(25))
    }

    @Test func `A run that loses a requirement is cancelled and retried`() async throws {
        let tasks = """
            {"version": 1, "plugins": {"p": {"library": "p.so"}},
             "tasks": {"t": {"plugin": "p", "handler": "a", "kind": "processing",
                             "requires": {"externalPower": true}}}}
            """
        let host = try TestHost(plugin { try await $0.sleep(for: .seconds(60)) }, tasks: tasks)
        try await host.submit("t")
        host.set(.externalPower, to: false)
        try await host.advance(by: .zero)
        #expect(host.runs.first?.outcome == .cancelled)
        #expect(host.runs.first?.stopReason == .condition)
        #expect(host.pending.map(\.attempt) == [2])
        #expect(host.pending.first?.waitingFor.first?.contains("externalPower") == true)
        host.set(.externalPower, to: true)
        try await host.advance(by: .seconds(60))
        #expect(host.runs.map(\.outcome) == [.cancelled, .succeeded])
    }

    // MARK: Launch and expire

    @Test func `A run that sleeps is expired`() async throws {
        let host = try TestHost(plugin { try await $0.sleep(for: .seconds(60)) })
        let before = host.now
        let run = try await host.launchAndExpire("a")
        #expect(run.outcome == .cancelled)
        #expect(run.stopReason == .expired)
        #expect(host.now == before)
        // The test asked for this expiry, so it does not delay the next run.
        try await host.submit("a")
        #expect(host.runs.count == 2)
    }

    @Test func `A run that waits for something real is expired at once`() async throws {
        let host = try TestHost(plugin { _ in try await untilCancelled() })
        // Its patience is an hour.
        #expect(try await host.launchAndExpire("a").outcome == .cancelled)
    }

    @Test func `A run that computes is expired after the host's patience`() async throws {
        let host = try TestHost(
            plugin { _ in
                // It never suspends, and leaves the processor to other tests.
                while !Task.isCancelled { sched_yield() }
                try Task.checkCancellation()
            },
            // Also the time that the handler has to notice that it is cancelled.
            patience: .seconds(10)
        )
        #expect(try await host.launchAndExpire("a").outcome == .cancelled)
    }

    @Test func `A run that cleans up on the host's clock has its grace for it`() async throws {
        let host = try TestHost(
            plugin { context in
                try? await context.sleep(for: .seconds(60))
                await withTaskGroup(of: Void.self) { group in
                    // Of a task that is not cancelled.
                    group.addTask {
                        await Task { try? await context.sleep(for: .seconds(4)) }.value
                    }
                }
            }
        )
        let run = try await host.launchAndExpire("a")
        #expect(run.outcome == .succeeded)
        #expect(run.duration == .seconds(4))
    }

    @Test func `A run that ignores its expiry is killed after patience and grace`()
        async throws
    {
        let gate = Gate()
        let host = try TestHost(plugin { _ in await gate.pass() }, patience: .milliseconds(50))
        let run = try await host.launchAndExpire("a")
        #expect(run.outcome == .killed)
        #expect(run.duration == .seconds(5))
        #expect(host.abandoned.count == 1)
        gate.open()
    }

    // MARK: Real waits

    @Test func `A run that waits for something real is waited for`() async throws {
        let gate = Gate()
        let host = try TestHost(
            plugin { context in
                await Task.detached { await gate.pass() }.value
                try await context.sleep(for: .seconds(1))
            }
        )
        async let advanced: Void = {
            try await host.submit("a")
            try await host.advance(by: .seconds(1))
        }()
        gate.open()
        try await advanced
        #expect(host.runs.first?.outcome == .succeeded)
    }

    @Test func `The error names the run that outlasts patience, and the test can wait again`()
        async throws
    {
        let gate = Gate()
        let host = try TestHost(plugin { _ in await gate.pass() }, patience: .milliseconds(20))
        let error = await #expect(throws: TestHostError.self) { try await host.submit("a") }
        #expect(error?.code == .stuck)
        #expect(error?.description.contains("handler `a` (of task a)") == true)
        let before = host.now
        await #expect(throws: TestHostError.self) { try await host.advance(by: .seconds(3600)) }
        #expect(host.now == before)
        gate.open()
        while host.runs.first?.outcome == nil { await Task.yield() }
        try await host.advance(by: .seconds(1))
        #expect(host.runs.first?.outcome == .succeeded)
    }

    @Test func `A call that waits can be cancelled`() async throws {
        let gate = Gate()
        let host = try TestHost(plugin { _ in await gate.pass() })
        let waiting = Task { try await host.submit("a") }
        while host.runs.isEmpty { await Task.yield() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        gate.open()
    }

    @Test func `One run may wait for another`() async throws {
        let gate = Gate()
        let plugin = Plugin(id: "org.example.two", version: "1") {
            Handler("first") { _ in await gate.pass() }
            Handler("second") { _ in gate.open() }
        }
        let tasks = """
            {"version": 1, "plugins": {"p": {"library": "p.so"}},
             "tasks": {"a": {"plugin": "p", "handler": "first", "submitAtStart": true},
                       "b": {"plugin": "p", "handler": "second", "submitAtStart": true}}}
            """
        let host = try TestHost(plugin, tasks: tasks)
        try await host.advance(by: .zero)
        #expect(host.runs.map(\.outcome) == [.succeeded, .succeeded])
    }
}
