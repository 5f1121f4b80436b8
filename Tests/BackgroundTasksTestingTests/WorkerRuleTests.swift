// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BackgroundTasksTesting
import BghostTestSupport
import FoundationEssentials
import Synchronization
import Testing

/// What a test host has of a worker's runtime: its limits, its order, and what it holds of the process.
@Suite(.timeLimit(.minutes(5)))
struct WorkerRuleTests {
    private let url: URL

    init() throws { url = try #require(URL(string: "http://example.org/")) }

    private func plugin(
        _ body: @escaping @Sendable (TaskContext) async throws -> Void
    ) -> Plugin {
        Plugin(id: "org.example.rules", version: "1") { Handler("a", body) }
    }

    @Test func `A plugin that a worker would refuse is refused in its words`() {
        let plugin = Plugin(id: "not a plugin's id", version: "1") { Handler("a") { _ in } }
        let error = #expect(throws: TestHostError.self) { try TestHost(plugin) }
        #expect(error?.code == .invalidTasks)
        #expect(error?.description.contains("not one like org.example.name") == true)
    }

    @Test func `A run has no more fetches at once than in a worker`() async throws {
        let host = try TestHost(
            plugin { [url] context in
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<258 {
                        group.addTask {
                            do {
                                _ = try await context.fetch(FetchRequest(url))
                            } catch let error as FetchError where error.code == .limitExceeded {
                                context.log(.info, "refused")
                            } catch {
                                context.log(.error, "\(error)")
                            }
                        }
                    }
                }
            }
        )
        try await host.launch("a")
        #expect(host.logs.map(\.message) == ["refused", "refused"])
        #expect(host.fetches.count == 256)
        host.respond { _ in FetchResponse(status: 200) }
        try await host.advance(by: .zero)
        #expect(host.runs.first?.outcome == .succeeded)
        #expect(host.logs.count == 2)
    }

    @Test func `No log line or progress is dropped, because the clock is simulated`() async throws {
        let host = try TestHost(
            plugin { context in
                for step in 1...1500 {
                    context.progress(step, of: 2000)
                    context.log(.info, "\(step)")
                }
            }
        )
        let run = try await host.launch("a")
        #expect(run.progress?.done == 1500)
        #expect(host.logs.count == 1500)
    }

    /// The host calls back on another thread, and may not take the run for one that waits meanwhile.
    @Test func `The clock stands still until the handler has processed a response`()
        async throws
    {
        let host = try TestHost(
            plugin { [url] context in
                async let other: Void = context.sleep(for: .seconds(10))
                _ = try await context.fetch(FetchRequest(url))
                for _ in 0..<20 { await Task.yield() }
                let begun = context.now
                try await context.sleep(for: .seconds(1))
                context.log(.info, "\(context.now.timeIntervalSince(begun))")
                try await other
            }
        )
        host.respond { _ in FetchResponse(status: 200) }
        for _ in 0..<20 {
            try await host.launch("a")
            try await host.advance(by: .seconds(10))
        }
        #expect(host.runs.allSatisfy { $0.duration == .seconds(10) })
        #expect(host.logs.map(\.message) == Array(repeating: "1.0", count: 20))
    }

    @Test func `A handler that was killed can do nothing more`() async throws {
        let gate = Gate()
        let failures = Mutex<[String]>([])
        let host = try TestHost(
            plugin { [url] context in
                await gate.pass()
                do {
                    _ = try await context.fetch(FetchRequest(url))
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
                do {
                    try await context.submit("a")
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
                context.progress(1, of: 2)
            },
            patience: .milliseconds(50)
        )
        #expect(try await host.launchAndExpire("a").outcome == .killed)
        gate.open()
        while !host.abandoned.isEmpty { await Task.yield() }
        #expect(failures.withLock { $0.count } == 2)
        #expect(host.fetches.isEmpty)
        #expect(host.pending.isEmpty)
        #expect(host.runs.first?.progress == nil)
    }

    @Test func `Killed runs that continue leave slots for others, until there are too many`()
        async throws
    {
        let gate = Gate()
        let host = try TestHost(
            plugin { context in
                try? await context.sleep(for: .seconds(3600))
                // Out of reach of the cancellation, and on the host's clock.
                await Task.detached { try? await context.sleep(for: .seconds(3600)) }.value
                await gate.pass()
            }
        )
        var killed = 0
        let error = await #expect(throws: TestHostError.self) {
            for _ in 0..<40 {
                try await host.launch("a")
                try await host.advance(by: .seconds(30))
                killed += 1
            }
        }
        #expect(error?.code == .stuck)
        #expect(error?.description.contains("32 killed runs") == true)
        #expect(killed == 32)
        #expect(host.abandoned.count == 32)
        gate.open()
        while !host.abandoned.isEmpty { await Task.yield() }
        try await host.advance(by: .zero)
        #expect(host.runs.count == 33)
    }

    @Test func `A closed host releases its threads and descriptors`() async throws {
        let plugin = plugin { [url] context in _ = try await context.fetch(FetchRequest(url)) }
        func use() async throws {
            let host = try TestHost(plugin)
            host.respond { _ in FetchResponse(status: 200) }
            #expect(try await host.launch("a").outcome == .succeeded)
            // And one that is in progress at the end.
            host.respond { _ in nil }
            #expect(try await host.launch("a").outcome == nil)
        }
        // Other tests have theirs, but not so many.
        let room = 150
        let threads = try Self.count(in: "/proc/self/task")
        let descriptors = try Self.count(in: "/proc/self/fd")
        for _ in 0..<300 { try await use() }
        while try Self.count(in: "/proc/self/task") > threads + room { try await Self.pause() }
        while try Self.count(in: "/proc/self/fd") > descriptors + room { try await Self.pause() }
    }

    private static func pause() async throws {
        try Task.checkCancellation()
        await Task.yield()
    }

    private static func count(in folder: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: folder).count
    }
}
