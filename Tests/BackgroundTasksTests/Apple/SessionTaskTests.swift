// SPDX-License-Identifier: Apache-2.0

import BackgroundFoundation
import BackgroundTasks
import BackgroundTasksTesting
import FoundationEssentials
import Testing

/// The tasks that a session lists, and sessions without an owner.
@Suite(.timeLimit(.minutes(5)))
struct SessionTaskTests {
    private func host(
        _ body: @escaping @Sendable (TaskContext) async throws -> [String]
    ) throws -> TestHost {
        try TestHost(Plugin(id: "org.example.tasks", version: "1") { Handler("a", body) })
    }

    private static func session() -> URLSession {
        URLSession(configuration: .background(withIdentifier: "s"))
    }

    @Test func `A session lists the tasks that it has created, each as itself`() async throws {
        let host = try host { _ in
            let session = Self.session()
            let task = session.dataTask(with: address("a"))
            task.resume()
            let idle = session.downloadTask(with: address("b"))
            let tasks = await session.allTasks
            return ["\(tasks == [task, idle])", "\(tasks.map(\.taskIdentifier))"]
        }
        let run = try await host.launch("a")
        #expect(try run.result(as: [String].self) == ["true", "[1, 2]"])
    }

    @Test func `Another session object lists the task with one number and its method`()
        async throws
    {
        let host = try host { _ in
            var request = URLRequest(url: address("a"))
            request.httpMethod = "POST"
            Self.session().dataTask(with: request).resume()
            let other = Self.session()
            var told: [String] = []
            for _ in 1...2 {
                for task in await other.allTasks {
                    let method = task.originalRequest?.httpMethod ?? "-"
                    told.append("\(task.taskIdentifier) \(method) \(task is URLSessionDataTask)")
                }
            }
            return told
        }
        let run = try await host.launch("a")
        #expect(try run.result(as: [String].self) == ["1 POST true", "1 POST true"])
    }

    @Test func `A foreground session lists the tasks in progress`() async throws {
        let host = try host { context in
            let session = URLSession(configuration: .default)
            let task = session.dataTask(with: address("a"))
            task.resume()
            let before = await session.allTasks
            try await context.sleep(for: .seconds(1))
            return ["\(before == [task])", "\(await session.allTasks.count)"]
        }
        host.respond { _ in FetchResponse(status: 200) }
        try await host.launch("a")
        try await host.advance(by: .seconds(2))
        #expect(try #require(host.runs.first).result(as: [String].self) == ["true", "0"])
    }

    @Test func `A delegate in the same process gets the task that it knows`() async throws {
        let events = Events()
        let tasks = Tasks(events)
        let host = try TestHost(
            Plugin(id: "org.example.tasks", version: "1") {
                Handler("a") { _ in tasks.begin() }
                Handler("urlSession.known") { _ in }
            }
        )
        try await host.launch("a")
        try await host.answer(
            try #require(host.transfers.first),
            with: FetchResponse(status: 200)
        )
        #expect(host.runs.map(\.outcome) == [.succeeded, .succeeded])
        #expect(events.all == ["the task itself: true"])
    }

    /// An app's object that owns its session and the task.
    private final class Tasks: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
        // @unchecked: the run sets it before the wake reads it.
        private let events: Events
        private var task: URLSessionTask?
        private lazy var session = URLSession(
            configuration: .background(withIdentifier: "known"),
            delegate: self,
            delegateQueue: nil
        )

        init(_ events: Events) { self.events = events }

        func begin() {
            let task = session.downloadTask(with: address("a"))
            self.task = task
            task.resume()
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didCompleteWithError error: (any Error)?
        ) { events.note("the task itself: \(task === self.task)") }
    }

    /// Tells of its own end.
    private final class Released: NSObject, URLSessionDelegate {
        let released: Signal<Void>

        init(_ released: Signal<Void>) { self.released = released }

        deinit { released.send() }
    }

    private func makeUnowned(_ released: Signal<Void>) -> URLSession {
        URLSession(
            configuration: .background(withIdentifier: "unowned"),
            delegate: Released(released),
            delegateQueue: nil
        )
    }

    @Test func `A session that is created outside of runs lives until it is invalidated`()
        async throws
    {
        let released = Signal<Void>()
        weak let session = makeUnowned(released)
        #expect(session != nil)
        #expect(released.now == nil)
        session?.finishTasksAndInvalidate()
        await released.value
    }
}
