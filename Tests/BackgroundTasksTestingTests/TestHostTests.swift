// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BackgroundTasksTesting
import BghostFacts
import FoundationEssentials
import Synchronization
import Testing

/// Requests, dates and the manifest.
@Suite(.timeLimit(.minutes(5)))
struct TestHostTests {
    struct Greeting: Codable { var name: String }

    private let hello = Plugin(id: "org.example.hello", version: "1") {
        Handler("hello") { (context, greeting: Greeting) in
            context.log(.info, "the door is open")
            context.progress(1, of: 2, "greets")
            return ["greeting": "Hello, \(greeting.name)!"]
        }
        Handler("sleeper") { context in
            try await context.sleep(for: .seconds(10))
            return context.now
        }
        Handler("failing") { _ in throw RetryLater("busy") }
    }

    private func tasks(_ tasks: String) -> String {
        #"{"version": 1, "plugins": {"hello": {"library": "hello.so"}}, "tasks": {\#(tasks)}}"#
    }

    // MARK: Runs

    @Test func `A record has all that a run did`() async throws {
        let host = try TestHost(hello, now: "2026-11-21T09:00:00Z")
        let run = try await host.launch("hello", parameters: Greeting(name: "Ada"))
        #expect(run.outcome == .succeeded)
        #expect(run.identifier == "hello")
        #expect(run.handler == "hello")
        #expect(run.attempt == 1)
        #expect(run.parameters == #"{"name":"Ada"}"#)
        #expect(try run.result(as: [String: String].self) == ["greeting": "Hello, Ada!"])
        #expect(run.progress?.phase == "greets")
        #expect(run.startedAt == Date(timeIntervalSince1970: 1_795_251_600))
        #expect(run.endedAt == run.startedAt)
        #expect(host.runs.count == 1)
        #expect(host.logs.map(\.message) == ["the door is open"])
        #expect(host.logs.first?.identifier == "hello")
    }

    @Test func `A run knows its names, as under the daemon`() async throws {
        let seen = Mutex<[RunIdentity?]>([])
        let kept = Mutex<TaskContext?>(nil)
        let plugin = Plugin(id: "org.example.identity", version: "1") {
            Handler("a") { context in
                seen.withLock { $0.append(context.identity) }
                kept.withLock { $0 = context }
                if context.attempt == 1 { throw RetryLater("once more") }
            }
        }
        let tasks = """
            {"version": 1, "plugins": {"p": {"library": "p.so"}},
             "tasks": {"t": {"plugin": "p", "handler": "a",
                             "retry": {"policy": "exponential", "base": "1s", "max": 2}}}}
            """
        let host = try TestHost(plugin, tasks: tasks)
        try await host.submit("t")
        try await host.advance(by: .seconds(60))
        try await host.submit("t")
        let names = seen.withLock { $0 }.compactMap { $0 }
        try #require(names.count >= 3 && names.count == host.runs.count)
        for name in names {
            #expect(name.runID.utf8.count == 26 && name.idempotencyKey.utf8.count == 26)
        }
        // Each attempt is a run of its own, at one request.
        #expect(Set(names.map(\.runID)).count == names.count)
        #expect(names[0].idempotencyKey == names[1].idempotencyKey)
        #expect(names[0].idempotencyKey != names.last?.idempotencyKey)
        #expect(names.map(\.epoch) == names.map(\.epoch).sorted())
        #expect(Set(names.map(\.epoch)).count == names.count)
        #expect(kept.withLock { $0 }?.identity == nil, "the run is over")
        #expect(kept.withLock { $0 }?.trace == nil)
    }

    @Test func `A handler that throws has failed`() async throws {
        let host = try TestHost(hello)
        let run = try await host.launch("failing")
        #expect(run.outcome == .failed)
        #expect(run.message == "busy")
    }

    @Test func `Parameters that do not fit the handler's type are refused`() async throws {
        let host = try TestHost(hello)
        let error = await #expect(throws: BGTaskScheduler.Error.self) {
            try await host.launch("hello")
        }
        #expect(
            error?.reason.contains("parameters /name: it is missing; a string is wanted") == true
        )
        #expect(host.runs.isEmpty)
    }

    /// Each requirement of a manifest can be set, and no other name.
    @Test func `Each requirement can be set as a fact`() {
        #expect(
            TestHost.Fact.allCases.map(\.rawValue).sorted()
                == StandardRequirement.allCases.map(\.rawValue).sorted()
        )
    }

    @Test func `A sleeping run continues as the test moves the clock`() async throws {
        let host = try TestHost(hello, now: "2026-11-21T09:00:00Z")
        #expect(try await host.launch("sleeper").outcome == nil)
        try await host.advance(by: .milliseconds(9999))
        #expect(host.runs.last?.outcome == nil)
        try await host.advance(by: .milliseconds(1))
        let run = try #require(host.runs.last)
        #expect(run.outcome == .succeeded)
        #expect(run.duration == .seconds(10))
        #expect(try run.result(as: Date.self) == run.startedAt + 10)
    }

    @Test func `Child tasks sleep side by side`() async throws {
        let plugin = Plugin(id: "org.example.children", version: "1") {
            Handler("a") { context in
                await withTaskGroup(of: Int.self) { group in
                    for seconds in [3, 1, 2] {
                        group.addTask {
                            // Each has something to do before it waits.
                            for _ in 0..<100 { await Task.yield() }
                            try? await context.sleep(for: .seconds(seconds))
                            return seconds
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
            }
        }
        let host = try TestHost(plugin)
        try await host.submit("a")
        try await host.advance(by: .seconds(3))
        #expect(host.runs.last?.result == "[1,2,3]")
        #expect(host.runs.last?.duration == .seconds(3))
    }

    @Test func `Two hosts of one plugin have nothing to do with each other`() async throws {
        let first = try TestHost(hello)
        let second = try TestHost(hello)
        try await first.launch("sleeper")
        try await second.launch("sleeper")
        try await first.advance(by: .seconds(10))
        #expect(first.runs.last?.outcome == .succeeded)
        #expect(second.runs.last?.outcome == nil)
        #expect(first.dataDirectory != second.dataDirectory)
    }

    @Test func `A host that is released cancels its runs and deletes its folder`() async throws {
        let ended = Mutex(false)
        let reason = Mutex<BackgroundTasks.StopReason?>(nil)
        let plugin = Plugin(id: "org.example.end", version: "1") {
            Handler("a") { context in
                defer {
                    reason.withLock { $0 = context.stopReason }
                    ended.withLock { $0 = true }
                }
                try Data("x".utf8).write(to: context.dataDirectory.appending(path: "kept"))
                try await context.sleep(for: .seconds(1))
            }
        }
        var host: TestHost? = try TestHost(plugin)
        _ = try await host?.launch("a")
        let directory = try #require(host?.dataDirectory)
        #expect(FileManager.default.fileExists(atPath: directory.path + "/kept"))
        host = nil
        while !ended.withLock({ $0 }) { await Task.yield() }
        #expect(reason.withLock { $0 } == .drain)
        #expect(!FileManager.default.fileExists(atPath: directory.path))
    }

    // MARK: Requests

    @Test func `A request begins at its date and not before`() async throws {
        let host = try TestHost(hello)
        try await host.submit("sleeper", earliestBeginDate: host.now + 60)
        #expect(host.pending.map(\.identifier) == ["sleeper"])
        #expect(host.pending.first?.waitingFor == ["its earliest begin date"])
        try await host.advance(by: .seconds(59))
        #expect(host.runs.isEmpty)
        try await host.advance(by: .seconds(1))
        #expect(host.runs.count == 1)
        #expect(host.pending.isEmpty)
    }

    @Test func `A newer request replaces the pending one`() async throws {
        let host = try TestHost(hello)
        let request = BGAppRefreshTaskRequest(identifier: "sleeper")
        request.earliestBeginDate = host.now + 60
        try await host.submit(request)
        try await host.submit("sleeper", earliestBeginDate: host.now + 120)
        #expect(host.pending.map(\.earliestBeginDate) == [host.now + 120])
        #expect(host.cancel(taskRequestWithIdentifier: "sleeper"))
        #expect(!host.cancel(taskRequestWithIdentifier: "sleeper"))
        #expect(host.pending.isEmpty)
    }

    @Test func `A submission without permission fails with the daemon's message`() async throws {
        let host = try TestHost(hello)
        await #expect(throws: BGTaskScheduler.Error.self) { try await host.submit("slepper") }
        do {
            try await host.launch("slepper")
        } catch BGTaskScheduler.Error.notPermitted {
            return
        }
        Issue.record("it was permitted")
    }

    @Test func `A processing request brings requirements of its own`() async throws {
        let host = try TestHost(
            hello,
            tasks: tasks(#""t": {"plugin": "hello", "handler": "sleeper", "kind": "processing"}"#)
        )
        host.set(.network, to: false)
        let request = BGProcessingTaskRequest(identifier: "t")
        request.requiresNetworkConnectivity = true
        try await host.submit(request)
        #expect(host.runs.isEmpty)
        // A launch by hand goes past it.
        try await host.launch("t")
        #expect(host.runs.count == 1)
        host.set(.network, to: nil)
        try await host.advance(by: .seconds(100))
        #expect(host.runs.count == 1)
    }

    @Test func `A failed run is tried again as the manifest says, until it is dead`() async throws {
        let host = try TestHost(
            hello,
            tasks: tasks(
                """
                "t": {"plugin": "hello", "handler": "failing",
                      "retry": {"policy": "exponential", "base": "30s", "max": 3}}
                """
            )
        )
        try await host.submit("t")
        #expect(host.pending.map(\.attempt) == [2])
        try await host.advance(by: .seconds(3600))
        #expect(host.runs.map(\.attempt) == [1, 2, 3])
        #expect(host.runs.allSatisfy { $0.outcome == .failed && $0.message == "busy" })
        #expect(host.pending.isEmpty)
        #expect(host.deadLetters.map(\.identifier) == ["t"])
    }

    @Test func `A handler that resubmits itself at once stops the clock with an error`()
        async throws
    {
        let plugin = Plugin(id: "org.example.endless", version: "1") {
            Handler("a") { try await $0.submit("a") }
        }
        let host = try TestHost(plugin)
        let error = await #expect(throws: TestHostError.self) { try await host.submit("a") }
        #expect(error?.code == .endless)
    }

    @Test func `The error names what a run waits for if it cannot start`() async throws {
        let serial = Plugin(id: "org.example.serial", version: "1") {
            Handler("a", options: .serial) { try await $0.sleep(for: .seconds(1)) }
        }
        let host = try TestHost(serial)
        try await host.launch("a")
        let error = await #expect(throws: TestHostError.self) { try await host.launch("a") }
        #expect(error?.code == .notBegun)
        #expect(error?.description.contains("the current run of its handler") == true)
        try await host.advance(by: .seconds(2))
        #expect(host.runs.map(\.outcome) == [.succeeded, .succeeded])
    }

    // MARK: The manifest

    @Test func `A calendar runs in its time zone, and a year takes seconds`() async throws {
        let host = try TestHost(
            hello,
            tasks: tasks(
                """
                "t": {"plugin": "hello", "handler": "sleeper", "calendar": "0 12 * * *",
                      "timeZone": "Europe/Berlin"}
                """
            ),
            now: "2026-01-01T00:00:00Z"
        )
        try await host.advance(by: .seconds(365 * 86_400))
        #expect(host.runs.count == 365)
        #expect(host.runs.first?.startedAt == Date(timeIntervalSince1970: 1_767_265_200))
        // In summer an hour earlier by UTC.
        let summer = Date(timeIntervalSince1970: 1_782_900_000)
        #expect(host.runs.contains { $0.startedAt == summer })
        #expect(host.runs.allSatisfy { $0.outcome == .succeeded })
    }

    @Test func `Setting the wall clock makes dates due and moves no limit`() async throws {
        let host = try TestHost(hello)
        try await host.launch("sleeper")
        try await host.submit("sleeper", earliestBeginDate: host.now + 3600)
        host.setClock(to: host.now + 3600)
        try await host.advance(by: .zero)
        #expect(host.runs.first?.outcome == nil)
        try await host.advance(by: .seconds(10))
        #expect(host.runs.count == 2)
        #expect(host.runs.first?.duration == .seconds(10))
        await #expect(throws: TestHostError.self) { try await host.advance(to: host.now - 1) }
        let later = host.now + 5
        try await host.advance(to: later)
        #expect(host.now == later)
    }

    @Test func `Requests for other plugins' tasks stay pending`() async throws {
        let plugin = Plugin(id: "org.example.mine", version: "1") {
            Handler("mine") { context in
                try await context.submit("other", parameters: ["a": 1])
                do {
                    try await context.submit("forbidden")
                } catch BGTaskScheduler.Error.notPermitted {
                    return await BGTaskScheduler.shared.pendingTaskRequests().count
                }
                return -1
            }
        }
        let host = try TestHost(
            plugin,
            tasks: """
                {"version": 1,
                 "plugins": {
                    "mine": {"library": "a.so", "permissions": {"submit": ["other"]}},
                    "theirs": {"library": "b.so"}},
                 "tasks": {
                    "own": {"plugin": "mine", "handler": "mine"},
                    "other": {"plugin": "theirs", "handler": "x"},
                    "forbidden": {"plugin": "theirs", "handler": "x"}}}
                """
        )
        #expect(try await host.launch("own").result == "0")
        #expect(host.pending.map(\.identifier) == ["other"])
        #expect(host.pending.first?.parameters == #"{"a":1}"#)
        #expect(host.pending.first?.waitingFor.first?.contains("not part of this test") == true)
    }

    @Test(
        arguments: [
            (#"{"version": 1, "taks": {}}"#, nil, "taks"),
            (
                #"{"version": 1, "plugins": {"p": {"library": "p.so"}}, "tasks": {"#
                    + #""t": {"plugin": "p", "handler": "helo"}}}"#,
                nil, "no handler `helo`; it has `hello`, `sleeper`, `failing`"
            ),
            (
                #"{"version": 1, "plugins": {"p": {"library": "p.so"}, "q": {"library": "q.so"}}}"#,
                nil, "say which is tested by `as:`"
            ),
            (
                #"{"version": 1, "plugins": {"p": {"library": "p.so"}}}"#,
                "q", "there is no plugin `q` in the manifest; there are `p`"
            ),
        ] as [(String, String?, String)]
    )
    func `An invalid manifest is refused`(tasks: String, name: String?, reason: String) {
        let error = #expect(throws: TestHostError.self) {
            try TestHost(hello, tasks: tasks, as: name)
        }
        #expect(error?.code == .invalidTasks)
        #expect(error?.description.contains(reason) == true)
    }

    @Test func `An invalid time is refused`() {
        let error = #expect(throws: TestHostError.self) { try TestHost(hello, now: "noon") }
        #expect(error?.code == .invalidTime)
    }
}
