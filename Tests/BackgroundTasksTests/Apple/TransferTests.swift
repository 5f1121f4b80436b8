// SPDX-License-Identifier: Apache-2.0

@testable import BackgroundFoundation
import BackgroundTasks
import BackgroundTasksTesting
import CBghost
import FoundationEssentials
import SwiftUI
import Synchronization
import Testing

/// Sessions in the background.
@Suite(.timeLimit(.minutes(5)))
struct TransferTests {
    private static func session(
        _ delegate: NotingDelegate? = nil,
        of identifier: String = "s",
        _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
        change(configuration)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    private func host(
        wake: @escaping @Sendable (TaskContext) async throws -> Void = { _ in },
        _ body: @escaping @Sendable (TaskContext) async throws -> Void
    ) throws -> TestHost {
        try TestHost(
            Plugin(id: "org.example.web", version: "1") {
                Handler("a", body)
                Handler("urlSession.s", wake)
            }
        )
    }

    private static func good(_ text: String) -> FetchResponse {
        FetchResponse(status: 200, body: Data(text.utf8))
    }

    @Test func `The same request of two tasks is one transfer`() async throws {
        let host = try host { context in
            let session = Self.session()
            async let one = session.data(from: address("a"))
            async let other = session.data(from: address("a"))
            context.log(.info, "\(try await one.0.count) \(try await other.0.count)")
        }
        try await host.launch("a")
        #expect(host.transfers.count == 1)
        try await host.answer(try #require(host.transfers.first), with: Self.good("four"))
        #expect(host.logs.map(\.message) == ["4 4"])
        #expect(host.runs.count == 1)
    }

    @Test func `A file that cannot be read is an error and no empty body`() async throws {
        let events = Events()
        let host = try host { _ in
            let task = Self.session().dataTask(with: address("a")) { data, _, error in
                events.note("\(data == nil) \((error as? URLError)?.code == .cannotOpenFile)")
            }
            let record = #"""
                {"id": "1", "session": "s", "url": "https://example.org/a", "upload": false,
                 "state": "done", "status": 200, "file": "/nonexistent/file"}
                """#
            task.tell(try JSONDecoder().decode(TransferRecord.self, from: Data(record.utf8)))
        }
        #expect(try await host.launch("a").outcome == .succeeded)
        #expect(events.all == ["true true"])
    }

    @Test func `The session's last end starts one wake, whose delegate receives all ends`()
        async throws
    {
        let events = Events()
        let host = try host { _ in
            _ = Self.session(NotingDelegate(events))
        } _: { _ in
            let session = Self.session()
            for name in ["a", "b", "c"] {
                let task = session.downloadTask(with: address(name))
                task.taskDescription = name
                task.resume()
            }
        }
        try await host.launch("a")
        #expect(host.runs.map(\.outcome) == [.succeeded])
        let transfers = host.transfers
        #expect(transfers.count == 3)
        try await host.answer(transfers[1], with: Self.good("two"))
        try await host.answer(transfers[2], with: FetchResponse(status: 404))
        #expect(host.runs.count == 1)
        #expect(events.all.isEmpty)
        try await host.answer(transfers[0], with: Self.good("one"))
        #expect(host.runs.map(\.handler) == ["a", "urlSession.s"])
        #expect(
            events.all == [
                "file one of a", "end 200 well", "file two of b", "end 200 well",
                "end 404 -1011", "finished",
            ]
        )
        #expect(host.transfers.isEmpty)
    }

    @Test func `A failed wake is repeated until one succeeds`() async throws {
        let events = Events()
        let host = try host { context in
            events.note(context.wakeSession ?? "-")
            let (data, _) = try await Self.session().data(from: address("a"))
            events.note(String(decoding: data, as: UTF8.self))
            if events.all.count < 4 { throw RetryLater("once more") }
        } _: { _ in
            Self.session().downloadTask(with: address("a")).resume()
        }
        try await host.launch("a")
        try await host.answer(try #require(host.transfers.first), with: Self.good("one"))
        #expect(host.runs.map(\.outcome) == [.succeeded, .failed])
        #expect(host.transfers.map(\.hasEnded) == [true])
        try await host.advance(by: .seconds(120))
        #expect(host.runs.map(\.outcome) == [.succeeded, .failed, .succeeded])
        #expect(events.all == ["s", "one", "s", "one"])
        #expect(host.transfers.isEmpty)
        try await host.advance(by: .seconds(3600))
        #expect(host.runs.count == 3)
    }

    @Test func `A cancellation that is not the run's ends the transfer`() async throws {
        let host = try host { context in
            let session = Self.session()
            try await withThrowingTaskGroup { group in
                group.addTask { _ = try await session.data(from: address("a")) }
                try await context.sleep(for: .seconds(1))
                group.cancelAll()
                do {
                    try await group.waitForAll()
                } catch URLError.cancelled {
                    context.log(.info, "cancelled")
                }
            }
        }
        try await host.launch("a")
        #expect(host.transfers.count == 1)
        try await host.advance(by: .seconds(1))
        #expect(host.logs.map(\.message) == ["cancelled"])
        #expect(host.runs.first?.outcome == .succeeded)
        #expect(!host.transfers.contains { !$0.hasEnded })
    }

    @Test func `A session without launch events gets no wake; its end waits`() async throws {
        let host = try host { _ in
            Self.session { $0.sessionSendsLaunchEvents = false }
                .downloadTask(with: address("a")).resume()
        }
        try await host.launch("a")
        try await host.answer(try #require(host.transfers.first), with: Self.good("one"))
        try await host.advance(by: .seconds(3600))
        #expect(host.runs.count == 1)
        #expect(host.transfers.map(\.hasEnded) == [true])
    }

    @Test func `Transfers wait for their date, and discretionary ones for power`() async throws {
        let host = try host { context in
            let task = Self.session().downloadTask(with: address("late"))
            task.earliestBeginDate = context.now + 600
            task.resume()
            Self.session { $0.isDiscretionary = true }
                .downloadTask(with: address("when it suits")).resume()
        }
        host.set(.externalPower, to: false)
        let asked = Events()
        host.respond { request in
            asked.note(request.url.lastPathComponent)
            return FetchResponse(status: 200)
        }
        try await host.launch("a")
        try await host.advance(by: .seconds(599))
        #expect(asked.all.isEmpty)
        try await host.advance(by: .seconds(1))
        #expect(asked.all == ["late"])
        host.set(.externalPower, to: true)
        try await host.advance(by: .seconds(1))
        #expect(asked.all == ["late", "when it suits"])
        #expect(host.runs.last?.handler == "urlSession.s")
    }

    @Test func `A session in a global variable receives ends from a later host`()
        async throws
    {
        let events = Events()
        let kept = Kept()
        let first = try TestPlugin {
            Handler("a") { _ in kept.keep(Self.session(NotingDelegate(events), of: "kept")) }
        }
        #expect(try await first.end() == Ending(status: BG_OK))
        for isClosed in [false, true] {
            // While its host is open, no other host may use the session.
            if isClosed { first.close() }
            let host = try TestHost(
                Plugin(id: "org.example.web", version: "1") {
                    Handler("a") { _ in
                        Self.session(of: "kept").downloadTask(with: address("a")).resume()
                    }
                    Handler("urlSession.kept") { _ in }
                }
            )
            try await host.launch("a")
            try await host.answer(try #require(host.transfers.first), with: Self.good("one"))
            #expect(host.runs.map(\.outcome) == [.succeeded, .succeeded])
            #expect(events.all == (isClosed ? ["file one of -", "end 200 well", "finished"] : []))
        }
    }

    /// An object in a global of a plugin.
    private final class Kept: Sendable {
        private let session = Mutex<URLSession?>(nil)

        func keep(_ made: URLSession) { session.withLock { $0 = made } }
    }

    @Test func `A failed transfer gives Apple's error, an HTTP refusal a response`() async throws {
        let host = try host { context in
            let session = Self.session()
            do {
                _ = try await session.data(from: address("a"))
            } catch let error as URLError {
                context.log(.info, "\(error.errorCode) \(error)")
            }
            let (data, response) = try await session.data(from: address("b"))
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            context.log(.info, "\(status) \(data.count)")
            _ = try await session.download(from: address("c"))
        }
        try await host.launch("a")
        let broken = FetchError(.failed, "no route")
        try await host.fail(try #require(host.transfers.first), with: broken)
        let refused = FetchResponse(status: 404, body: Data("none".utf8))
        try await host.answer(try #require(host.transfers.first), with: refused)
        try await host.answer(try #require(host.transfers.first), with: refused)
        #expect(
            host.logs.map(\.message) == ["-1004 https://example.org/a: no route", "404 0"]
        )
        #expect(host.runs.first?.outcome == .failed)
        #expect(host.runs.first?.message.contains("404") == true)
    }

    @Test func `A file is sent, and its answer reaches the delegate`() async throws {
        let events = Events()
        let host = try host { context in
            let photo = context.dataDirectory.appending(path: "photo")
            try Data("photo".utf8).write(to: photo)
            let session = Self.session(NotingDelegate(events))
            session.uploadTask(with: URLRequest(url: address("p")), fromFile: photo).resume()
            // The app continues and needs no wake.
            try await context.sleep(for: .seconds(10))
        }
        try await host.launch("a")
        let transfer = try #require(host.transfers.first)
        #expect(transfer.isUpload)
        #expect(transfer.request.method == "PUT")
        try await host.answer(
            transfer,
            with: FetchResponse(status: 201, body: Data("thanks".utf8))
        )
        #expect(events.all == ["data thanks", "end 201 well"])
        try await host.advance(by: .seconds(20))
        #expect(host.runs.map(\.outcome) == [.succeeded])
    }

    @Test func `A scene may handle the wakes of several sessions`() async throws {
        let host = try TestHost(
            Plugin(id: "org.example.all", version: "1", app: MatchingApp.self)
        )
        for name in ["s1", "other"] {
            try await host.launch("begin", parameters: ["session": name])
            try await host.answer(
                try #require(host.transfers.last),
                with: FetchResponse(status: 200)
            )
        }
        #expect(host.runs.map(\.handler) == ["begin", "urlSession", "begin", "urlSession"])
        #expect(host.logs.filter { $0.message.hasPrefix("woken") }.map(\.message) == ["woken s1"])
    }

    private struct MatchingApp: App {
        struct Parameters: Decodable { var session: String }

        var body: some Scene {
            WindowGroup {}
                .backgroundTask(.appRefresh("begin")) {
                    guard let parameters: Parameters = try TaskContext.current?.parameters() else {
                        return
                    }
                    let session = URLSession(
                        configuration: .background(withIdentifier: parameters.session)
                    )
                    session.downloadTask(with: address("a")).resume()
                }
                .backgroundTask(.urlSession(matching: { $0.hasPrefix("s") })) { session in
                    Logger().info("woken \(session)")
                }
        }
    }
}
