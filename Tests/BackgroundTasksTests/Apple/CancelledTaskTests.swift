// SPDX-License-Identifier: Apache-2.0

import BackgroundFoundation
import BackgroundTasks
import BackgroundTasksTesting
import FoundationEssentials
import Testing

/// Tasks of sessions that the source itself ends.
@Suite(.timeLimit(.minutes(5)))
struct CancelledTaskTests {
    private func host(
        _ body: @escaping @Sendable (TaskContext) async throws -> Void
    ) throws -> TestHost {
        try TestHost(Plugin(id: "org.example.web", version: "1") { Handler("a", body) })
    }

    /// Tells all that a delegate hears of an end.
    private final class Ends: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
        // @unchecked: nothing of it changes.
        private let events: Events

        init(_ events: Events) { self.events = events }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didCompleteWithError error: (any Error)?
        ) {
            let code = (error as? URLError)?.errorCode ?? 0
            events.note("\(task.taskDescription ?? "-") \(code) \(task.state)")
        }

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
            events.note("invalid")
        }
    }

    @Test(arguments: [nil, "s"])
    func `A task that is cancelled before it was resumed completes as cancelled`(
        background: String?
    ) async throws {
        let events = Events()
        let host = try host { _ in
            let configuration =
                background.map { URLSessionConfiguration.background(withIdentifier: $0) }
                ?? .default
            let session = URLSession(configuration: configuration)
            await withCheckedContinuation { continuation in
                let task = session.dataTask(with: address("a")) { data, _, error in
                    events.note("\(data == nil) \((error as? URLError)?.code == .cancelled)")
                    continuation.resume()
                }
                task.cancel()
                // Neither asks for anything, nor completes it a second time.
                task.resume()
                task.cancel()
            }
        }
        #expect(try await host.launch("a").outcome == .succeeded)
        #expect(events.all == ["true true"])
        #expect(host.fetches.isEmpty && host.transfers.isEmpty)
    }

    @Test(arguments: [nil, "s"])
    func `A delegate learns of a task cancelled before resume`(background: String?) async throws {
        let events = Events()
        let host = try host { _ in
            let configuration =
                background.map { URLSessionConfiguration.background(withIdentifier: $0) }
                ?? .default
            let session = URLSession(
                configuration: configuration,
                delegate: Ends(events),
                delegateQueue: nil
            )
            let task = session.downloadTask(with: address("a"))
            task.taskDescription = "idle"
            task.cancel()
        }
        #expect(try await host.launch("a").outcome == .succeeded)
        #expect(events.all == ["idle -999 completed"])
        #expect(host.transfers.isEmpty)
    }

    @Test func `A session that is invalidated and cancelled ends its tasks, then itself`()
        async throws
    {
        let events = Events()
        let host = try host { context in
            let session = URLSession(
                configuration: .default,
                delegate: Ends(events),
                delegateQueue: nil
            )
            let tasks = ["idle", "running"].map { name in
                let task = session.dataTask(with: address(name))
                task.taskDescription = name
                return task
            }
            tasks[1].resume()
            try await context.sleep(for: .seconds(1))
            session.invalidateAndCancel()
            try await context.sleep(for: .seconds(1))
        }
        try await host.launch("a")
        #expect(host.fetches.count == 1)
        try await host.advance(by: .seconds(3))
        #expect(host.runs.map(\.outcome) == [.succeeded])
        #expect(
            events.all.sorted() == ["idle -999 completed", "invalid", "running -999 completed"]
        )
        #expect(events.all.last == "invalid")
    }

    @Test func `A task that another run began is not started again`() async throws {
        let host = try host { context in
            let session = URLSession(configuration: .background(withIdentifier: "s"))
            if await session.allTasks.isEmpty {
                session.downloadTask(with: address("a")).resume()
            } else {
                for task in await session.allTasks {
                    context.log(.info, "\(task.state)")
                    task.resume()
                }
            }
        }
        try await host.launch("a")
        try await host.launch("a")
        #expect(host.transfers.count == 1)
        #expect(host.logs.map(\.message) == ["\(URLSessionTask.State.running)"])
    }

    @Test func `Progress uses the expected size until the host reports one`() {
        let session = URLSession(configuration: .default)
        let task = session.dataTask(with: address("a"))
        #expect(task.countOfBytesClientExpectsToReceive == NSURLSessionTransferSizeUnknown)
        task.countOfBytesClientExpectsToSend = 200
        task.countOfBytesClientExpectsToReceive = 500 * 1024
        task.priority = 7
        #expect(task.progress.totalUnitCount == 200 + 500 * 1024)
        #expect(task.priority == URLSessionTask.highPriority)
    }
}
