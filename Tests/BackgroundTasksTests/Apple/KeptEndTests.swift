// SPDX-License-Identifier: Apache-2.0

import BackgroundFoundation
import BackgroundTasks
import BackgroundTasksTesting
import CBghost
import FoundationEssentials
import Synchronization
import Testing

/// Events of a background session that no session of the plugin took in their wake.
@Suite(.timeLimit(.minutes(5)))
struct KeptEndTests {
    private static func session(
        _ delegate: NotingDelegate? = nil,
        on queue: OperationQueue? = nil,
        sendsLaunchEvents: Bool = true
    ) -> URLSession {
        let configuration = URLSessionConfiguration.background(withIdentifier: "s")
        configuration.sessionSendsLaunchEvents = sendsLaunchEvents
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
    }

    /// A plugin that begins a download of `a`, is woken, and makes its session in runs of `open`.
    private func host(
        begin: @escaping @Sendable (TaskContext) async throws -> Void = { _ in
            session().downloadTask(with: address("a")).resume()
        },
        wake: @escaping @Sendable (TaskContext) async throws -> Void = { _ in },
        open: @escaping @Sendable (TaskContext) async throws -> Void = { _ in }
    ) throws -> TestHost {
        try TestHost(
            Plugin(id: "org.example.kept", version: "1") {
                Handler("begin", begin)
                Handler("urlSession.s", wake)
                Handler("open", open)
            }
        )
    }

    /// Has a download of the session begin and end, and its wake run.
    private func end(_ host: TestHost, _ text: String = "one") async throws {
        try await host.launch("begin")
        let begun = try #require(host.transfers.first { !$0.hasEnded })
        try await host.answer(begun, with: FetchResponse(status: 200, body: Data(text.utf8)))
    }

    private static let told = ["file one of -", "end 200 well", "finished"]

    @Test func `An end that no delegate received is kept until the session is created`()
        async throws
    {
        let events = Events()
        let host = try host(open: { _ in _ = Self.session(NotingDelegate(events)) })
        try await end(host)
        #expect(host.runs.map(\.handler) == ["begin", "urlSession.s"])
        #expect(host.transfers.map(\.waitsForSession) == [true])
        // A kept end starts no run.
        try await host.advance(by: .seconds(86_400))
        #expect(host.runs.count == 2)
        try await host.launch("open")
        #expect(events.all == Self.told)
        #expect(host.transfers.isEmpty)
        try await host.launch("open")
        #expect(events.all == Self.told)
    }

    @Test func `A failed run leaves the kept ends to the next run`() async throws {
        let events = Events()
        let isFirst = Mutex(true)
        let host = try host(open: { context in
            _ = Self.session(NotingDelegate(events))
            let fails = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            if fails { throw RetryLater("not now") }
        })
        try await end(host)
        let first = try await host.launch("open")
        #expect(first.outcome == .failed)
        // The delegate's calls belong to the run, also if its handler throws meanwhile.
        #expect(events.all == Self.told)
        #expect(host.transfers.map(\.waitsForSession) == [true])
        try await host.launch("open")
        #expect(events.all == Self.told + Self.told)
        #expect(host.transfers.isEmpty)
    }

    @Test func `Of two runs that create the session, one receives the end`() async throws {
        let events = Events()
        let host = try host(open: { context in
            _ = Self.session(NotingDelegate(events))
            try await context.sleep(for: .seconds(10))
        })
        try await end(host)
        try await host.launch("open")
        #expect(events.all == Self.told)
        // It is under way, and has not acknowledged the end.
        #expect(host.transfers.count == 1)
        try await host.launch("begin")
        let other = try #require(host.transfers.first { !$0.hasEnded })
        try await host.answer(other, with: FetchResponse(status: 404))
        #expect(events.all == Self.told)
        try await host.advance(by: .seconds(20))
        // The later end was of a wake that took nothing, and is kept by itself.
        #expect(host.transfers.map(\.waitsForSession) == [true])
        #expect(events.all == Self.told)
    }

    @Test func `The next wake of the session receives the kept ends too`() async throws {
        let events = Events()
        let wakes = Events()
        let host = try host(
            begin: { _ in
                let name = wakes.all.isEmpty ? "a" : "b"
                Self.session().downloadTask(with: address(name)).resume()
            },
            wake: { _ in
                wakes.note("wake")
                guard wakes.all.count > 1 else { return }
                // In the other order than they came.
                for name in ["b", "a"] {
                    let (data, _) = try await Self.session().data(from: address(name))
                    events.note(String(decoding: data, as: UTF8.self))
                }
            }
        )
        try await end(host)
        #expect(host.transfers.map(\.waitsForSession) == [true])
        try await end(host, "two")
        #expect(events.all == ["two", "one"])
        #expect(host.runs.map(\.outcome) == Array(repeating: .succeeded, count: 4))
        #expect(host.transfers.isEmpty)
    }

    @Test func `A session created in the wake receives all ends, and none is kept`() async throws {
        let events = Events()
        let host = try host(wake: { _ in _ = Self.session(NotingDelegate(events)) })
        try await end(host)
        #expect(events.all == Self.told)
        #expect(host.transfers.isEmpty)
        #expect(host.logs.isEmpty)
    }

    @Test func `A request of a later run is new, whatever is kept`() async throws {
        let host = try host(open: { context in
            let (data, _) = try await Self.session().data(from: address("a"))
            context.log(.info, String(decoding: data, as: UTF8.self))
        })
        try await end(host, "old")
        try await host.launch("open")
        let fresh = try #require(host.transfers.last)
        #expect(fresh.isAwaited)
        try await host.answer(fresh, with: FetchResponse(status: 200, body: Data("new".utf8)))
        #expect(host.logs.last?.message == "new")
        #expect(host.transfers.map(\.waitsForSession) == [true])
    }

    @Test func `A handler that reads the parameters acknowledges the ends`() async throws {
        let seen = Events()
        let host = try host(wake: { context in
            seen.note(context.rawParameters.contains("example.org") ? "read" : "unread")
        })
        try await end(host)
        #expect(seen.all == ["read"])
        #expect(host.transfers.isEmpty)
    }

    @Test func `A session without launch events receives its ends when it is created`() async throws
    {
        let events = Events()
        let host = try host(
            begin: { _ in
                Self.session(sendsLaunchEvents: false).downloadTask(with: address("a")).resume()
            },
            open: { _ in _ = Self.session(NotingDelegate(events), sendsLaunchEvents: false) }
        )
        try await end(host)
        #expect(host.runs.map(\.handler) == ["begin"])
        try await host.launch("open")
        #expect(events.all == Self.told)
        #expect(host.transfers.isEmpty)
    }

    @Test func `A session that is invalidated first leaves the ends to the next one`()
        async throws
    {
        let (early, late) = (Events(), Events())
        let held = Held()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let host = try host(
            begin: { _ in
                Self.session().downloadTask(with: address("a")).resume()
                held.keep(Self.session(NotingDelegate(early), on: queue))
                // It lets go of its delegate on its queue, before what the wake puts there.
                held.session?.finishTasksAndInvalidate()
            },
            wake: { _ in queue.isSuspended = false },
            open: { _ in _ = Self.session(NotingDelegate(late)) }
        )
        try await end(host)
        #expect(early.all.isEmpty)
        #expect(host.transfers.map(\.waitsForSession) == [true])
        try await host.launch("open")
        #expect(late.all == Self.told)
    }

    /// An object in a global of a plugin.
    private final class Held: Sendable {
        private let kept = Mutex<URLSession?>(nil)

        var session: URLSession? { kept.withLock { $0 } }

        func keep(_ made: URLSession) { kept.withLock { $0 = made } }
    }
}
