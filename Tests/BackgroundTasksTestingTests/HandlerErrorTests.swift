// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BackgroundTasksTesting
import Testing

/// What the record of a failed run says about its error.
@Suite(.timeLimit(.minutes(5)))
struct HandlerErrorTests {
    private struct Plain: Error {}
    private enum Station: Error { case isDown(String) }
    private struct Placed: LocatedError {
        let place: SourcePlace?

        init(fileID: String = #fileID, line: Int = #line) {
            place = SourcePlace(fileID: fileID, line: line)
        }
    }

    /// The first line of a closure that is written in one, and its run.
    private func run(
        line: Int = #line,
        _ body: @escaping @Sendable (TaskContext) async throws -> Void
    ) async throws -> (line: Int, run: TestHost.Run) {
        let host = try TestHost(
            Plugin(id: "org.example.error", version: "1") { Handler("a", body) },
            tasks: """
                {"version": 1, "plugins": {"p": {"library": "p.so"}},
                 "tasks": {"t": {"plugin": "p", "handler": "a"}}}
                """
        )
        try await host.submit("t")
        return (line, try #require(host.runs.first))
    }

    private let file = "BackgroundTasksTestingTests/HandlerErrorTests.swift"
    private let module = "BackgroundTasksTestingTests.HandlerErrorTests"

    @Test func `Each error has a type, with its module`() async throws {
        let (_, plain) = try await run { _ in throw Plain() }
        #expect(plain.error?.type == "\(module).Plain")
        #expect(plain.error?.file == "" && plain.error?.line == 0)
        let (_, station) = try await run { _ in throw Station.isDown("x") }
        #expect(station.error?.type == "\(module).Station")
        struct Local: Error {}
        let (_, local) = try await run { _ in throw Local() }
        #expect(local.error?.type == "\(module).Local")
        let (_, cancelled) = try await run { _ in throw CancellationError() }
        #expect(cancelled.outcome == .failed && cancelled.error?.type == "Swift.CancellationError")
        let (_, wrong) = try await run { try $0.parameters(as: [Int].self).forEach { _ in } }
        #expect(wrong.error?.type == "BackgroundTasks.MismatchError", "\(wrong)")
    }

    @Test func `Errors of the SDK, and those that take it, have the line that made them`()
        async throws
    {
        let (first, final) = try await run { _ in throw PermanentFailure("gone") }
        #expect(final.error?.type == "BackgroundTasks.PermanentFailure")
        #expect(final.error?.file == file && final.error?.line == first)
        let (second, later) = try await run { _ in throw RetryLater() }
        #expect(later.error?.file == file && later.error?.line == second)
        let (third, placed) = try await run { _ in throw Placed() }
        #expect(placed.error?.type == "\(module).Placed" && placed.error?.line == third)
    }

    @Test func `TaskFailure adds the line to another error, which decides`() async throws {
        let (first, text) = try await run { _ in throw TaskFailure("no luck") }
        #expect(text.message == "no luck" && text.error?.type == "BackgroundTasks.TaskFailure")
        #expect(text.error?.file == file && text.error?.line == first)
        let (second, caught) = try await run { _ in
            do { throw Plain() } catch { throw TaskFailure(error) }
        }
        #expect(caught.message == "Plain()" && caught.error?.type == "\(module).Plain")
        #expect(caught.error?.line == second + 1)
        // The innermost place counts.
        let (third, twice) = try await run { _ in
            let inner = TaskFailure(PermanentFailure("gone"))
            throw TaskFailure(inner)
        }
        #expect(twice.message == "gone" && twice.error?.line == third + 1)
        #expect(twice.error?.type == "BackgroundTasks.PermanentFailure")
        let (_, stopped) = try await run { _ in throw TaskFailure(CancellationError()) }
        #expect(stopped.message == "threw CancellationError without having been asked to stop")
    }

    @Test func `A run that does not fail has no error`() async throws {
        let (_, succeeded) = try await run { _ in }
        #expect(succeeded.outcome == .succeeded && succeeded.error == nil)
        let host = try TestHost(
            Plugin(id: "org.example.error", version: "1") {
                Handler("a") { try await $0.sleep(for: .seconds(3600)) }
            },
            tasks: """
                {"version": 1, "plugins": {"p": {"library": "p.so"}},
                 "tasks": {"t": {"plugin": "p", "handler": "a"}}}
                """
        )
        try await host.submit("t")
        try await host.advance(by: .seconds(1800))
        #expect(host.runs.first?.outcome == .cancelled && host.runs.first?.error == nil)
    }
}
