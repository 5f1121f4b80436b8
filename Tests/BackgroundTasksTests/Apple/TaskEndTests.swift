// SPDX-License-Identifier: Apache-2.0

import BackgroundFoundation
import BackgroundTasks
import BackgroundTasksTesting
import FoundationEssentials
import Synchronization
import Testing

/// Tasks of background sessions, from their start to the end of their files.
@Suite(.timeLimit(.minutes(5)))
struct TaskEndTests {
    /// The session of one test: one that lives on in a process gets the events of its name.
    private let name = "ends\(UInt64.random(in: 0...UInt64.max))"

    private func session(_ delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        URLSession(
            configuration: .background(withIdentifier: name),
            delegate: delegate,
            delegateQueue: nil
        )
    }

    private func host(
        wake: @escaping @Sendable (TaskContext) async throws -> Void = { _ in },
        _ body: @escaping @Sendable (TaskContext) async throws -> Void
    ) throws -> TestHost {
        try TestHost(
            Plugin(id: "org.example.ends", version: "1") {
                Handler("a", body)
                Handler("urlSession.\(name)", wake)
            }
        )
    }

    private func answer(_ host: TestHost, _ text: String = "one") async throws {
        let begun = try #require(host.transfers.first { !$0.hasEnded })
        try await host.answer(begun, with: FetchResponse(status: 200, body: Data(text.utf8)))
    }

    /// The files of downloads in the plugin's data directory.
    private func files(_ host: TestHost) throws -> [String] {
        let folder = host.dataDirectory.appending(path: "transfers")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
    }

    /// Tells of the end of a session too.
    private final class Ends: NSObject, URLSessionDownloadDelegate, @unchecked Sendable {
        // @unchecked: nothing of it changes.
        private let events: Events

        init(_ events: Events) { self.events = events }

        func urlSession(
            _ session: URLSession,
            downloadTask: URLSessionDownloadTask,
            didFinishDownloadingTo location: URL
        ) { events.note("file") }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didCompleteWithError error: (any Error)?
        ) { events.note("end") }

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
            events.note("invalid")
        }
    }

    @Test func `A session that finishes its tasks becomes invalid after their ends`() async throws {
        let events = Events()
        let host = try host { context in
            let session = session(Ends(events))
            session.downloadTask(with: address("a")).resume()
            session.finishTasksAndInvalidate()
            try await context.sleep(for: .seconds(10))
        }
        try await host.launch("a")
        #expect(events.all.isEmpty)
        try await answer(host)
        #expect(events.all == ["file", "end", "invalid"])
        try await host.advance(by: .seconds(20))
        #expect(host.runs.map(\.outcome) == [.succeeded])
    }

    // MARK: Files

    @Test func `A file is removed once the run that awaited it has read it`() async throws {
        let host = try host { context in
            let session = session(NotingDelegate(Events()))
            _ = try await session.data(from: address("a"))
            session.downloadTask(with: address("b")).resume()
            try await context.sleep(for: .seconds(1))
            session.downloadTask(with: address("c")) { file, _, _ in
                context.log(.info, "\(file != nil)")
            }.resume()
            try await context.sleep(for: .seconds(1))
        }
        host.respond { _ in FetchResponse(status: 200, body: Data("one".utf8)) }
        try await host.launch("a")
        try await host.advance(by: .seconds(5))
        #expect(host.runs.map(\.outcome) == [.succeeded])
        #expect(host.logs.map(\.message) == ["true"])
        #expect(try files(host) == [])
    }

    @Test func `Equal requests share a file, which the last of them removes`() async throws {
        let host = try host { context in
            let session = session()
            async let one = session.data(from: address("a"))
            async let other = session.data(from: address("a"))
            let counts = (try await one.0.count, try await other.0.count)
            context.log(.info, "\(counts)")
        }
        try await host.launch("a")
        try await answer(host)
        #expect(host.logs.map(\.message) == ["(3, 3)"])
        #expect(try files(host) == [])
    }

    @Test func `A file of download(for:) belongs to the caller`() async throws {
        let host = try host { context in
            let session = session()
            async let file = session.download(from: address("a"))
            async let data = session.data(from: address("a"))
            let (location, _) = try await file
            context.log(.info, "\(try await data.0.count) \(try Data(contentsOf: location).count)")
        }
        try await host.launch("a")
        try await answer(host)
        #expect(host.logs.map(\.message) == ["3 3"])
        #expect(try files(host).count == 1)
    }

    @Test func `A wake that is repeated finds the file again`() async throws {
        let events = Events()
        let kept = Mutex<URLSession?>(nil)
        let host = try host { _ in
            let isFirst = kept.withLock { kept in
                defer { kept = kept ?? session(NotingDelegate(events)) }
                return kept == nil
            }
            if isFirst { throw RetryLater("once more") }
        } _: { _ in
            session().downloadTask(with: address("a")).resume()
        }
        try await host.launch("a")
        try await answer(host)
        try await host.advance(by: .seconds(120))
        #expect(host.runs.map(\.outcome) == [.succeeded, .failed, .succeeded])
        let told = ["file one of -", "end 200 well", "finished"]
        #expect(events.all == told + told)
    }

    // MARK: Data tasks

    @Test func `A data task of a delegate delivers data`() async throws {
        let events = Events()
        let host = try host { context in
            let session = session(NotingDelegate(events))
            session.dataTask(with: address("a")).resume()
            try await context.sleep(for: .seconds(1))
        }
        try await host.launch("a")
        try await answer(host)
        #expect(events.all == ["data one", "end 200 well"])
        #expect(try files(host) == [])
    }

    @Test func `A wake delivers the data of a data task`() async throws {
        let events = Events()
        let host = try host { _ in
            _ = session(NotingDelegate(events))
        } _: { _ in
            session().dataTask(with: address("a")).resume()
        }
        try await host.launch("a")
        try await answer(host)
        #expect(events.all == ["data one", "end 200 well", "finished"])
    }

    @Test func `A request that a data task has started is found by its wake`() async throws {
        let host = try host { context in
            let (data, _) = try await session().data(from: address("a"))
            context.log(.info, String(decoding: data, as: UTF8.self))
        } _: { _ in
            session().dataTask(with: address("a")).resume()
        }
        try await host.launch("a")
        try await answer(host)
        #expect(host.logs.map(\.message) == ["one"])
        #expect(host.transfers.isEmpty)
    }
}
