// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BackgroundTasksTesting
import FoundationEssentials
import SwiftUI
import Testing

/// Wakes of sessions that an app delegate handles.
@Suite(.timeLimit(.minutes(5)))
struct AppWakeTests {
    private static func begin(_ identifier: String) {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: "begin") { task in
            URLSession(configuration: .background(withIdentifier: identifier))
                .downloadTask(with: address("a")).resume()
            task.setTaskCompleted(success: true)
        }
    }

    /// Has a download begin and end, and its wake run.
    private func wake(_ host: TestHost) async throws {
        try await host.launch("begin")
        let begun = try #require(host.transfers.first { !$0.hasEnded })
        try await host.answer(begun, with: FetchResponse(status: 200, body: Data("one".utf8)))
    }

    /// The app of Apple's "Downloading files in the background": it stores the completion handler, and
    /// the delegate of its session calls it.
    private final class Downloader: UIResponder, UIApplicationDelegate,
        URLSessionDownloadDelegate, @unchecked Sendable
    {
        // @unchecked: one wake at a time uses it.
        static let events = Events()
        private var completion: (() -> Void)?
        private lazy var session = URLSession(
            configuration: .background(withIdentifier: "downloader"),
            delegate: self,
            delegateQueue: nil
        )

        func application(
            _ application: UIApplication,
            didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
        ) -> Bool {
            AppWakeTests.begin("downloader")
            return true
        }

        func application(
            _ application: UIApplication,
            handleEventsForBackgroundURLSession identifier: String,
            completionHandler: @escaping () -> Void
        ) {
            // The first wake creates the session here; the second finds it.
            let count = session.delegateQueue.operationCount
            Self.events.note("woken for \(identifier), \(count) calls of its delegate")
            completion = completionHandler
        }

        func urlSession(
            _ session: URLSession,
            downloadTask: URLSessionDownloadTask,
            didFinishDownloadingTo location: URL
        ) { Self.events.note("file") }

        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
            Self.events.note("finished, stored: \(completion != nil)")
            completion?()
            completion = nil
        }
    }

    @Test func `The app delegate knows of a wake before the session's delegate gets its events`()
        async throws
    {
        let plugin = Plugin(id: "org.example.wake", version: "1", delegate: Downloader.self)
        let host = try TestHost(plugin)
        for round in 1...2 {
            try await wake(host)
            let told = [
                "woken for downloader, 0 calls of its delegate", "file", "finished, stored: true",
            ]
            #expect(Downloader.events.all == Array(repeating: told, count: round).flatMap(\.self))
        }
        #expect(host.runs.map(\.handler) == ["begin", "urlSession", "begin", "urlSession"])
        #expect(host.runs.allSatisfy { $0.outcome == .succeeded })
        #expect(host.transfers.isEmpty)
    }

    /// An app that never ends its first wake.
    private final class Forgetful: UIResponder, UIApplicationDelegate {
        static let wakes = Events()

        func application(
            _ application: UIApplication,
            didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
        ) -> Bool {
            AppWakeTests.begin("forgetful")
            return true
        }

        func application(
            _ application: UIApplication,
            handleEventsForBackgroundURLSession identifier: String,
            completionHandler: @escaping () -> Void
        ) {
            Self.wakes.note(identifier)
            guard Self.wakes.all.count == 1 else { return completionHandler() }
            let context = TaskContext.current
            // A run that waits for the clock lets the test advance it. The end of the sleep counts
            // for nothing.
            Task { try? await context?.sleep(for: .seconds(3600)) }
        }
    }

    @Test func `A wake that the app delegate does not end is cancelled, and repeated`() async throws
    {
        let plugin = Plugin(id: "org.example.wake", version: "1", delegate: Forgetful.self)
        let host = try TestHost(plugin)
        try await wake(host)
        #expect(host.runs.last?.outcome == nil)
        try await host.advance(by: .seconds(26))
        #expect(host.runs.last?.outcome == .cancelled)
        try await host.advance(by: .seconds(120))
        #expect(Forgetful.wakes.all == ["forgetful", "forgetful"])
        #expect(host.runs.map(\.outcome) == [.succeeded, .cancelled, .succeeded])
    }

    /// A scene and an app delegate that both handle the wake.
    private struct BothApp: App {
        final class Delegate: UIResponder, UIApplicationDelegate {
            func application(
                _ application: UIApplication,
                didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
            ) -> Bool {
                AppWakeTests.begin("both")
                return true
            }

            func application(
                _ application: UIApplication,
                handleEventsForBackgroundURLSession identifier: String,
                completionHandler: @escaping () -> Void
            ) {
                Logger().info("delegate \(identifier)")
                completionHandler()
            }
        }

        @UIApplicationDelegateAdaptor(Delegate.self) var delegate

        var body: some Scene {
            WindowGroup {}.backgroundTask(.urlSession(matching: { _ in true })) { session in
                Logger().info("scene \(session)")
            }
        }
    }

    @Test func `A wake reaches the app delegate, then the closures of scenes`() async throws {
        let plugin = Plugin(id: "org.example.wake", version: "1", app: BothApp.self)
        let host = try TestHost(plugin)
        try await wake(host)
        // Then the log says that no session took the end.
        #expect(host.logs.map(\.message).prefix(2) == ["delegate both", "scene both"])
        #expect(host.runs.map(\.outcome) == [.succeeded, .succeeded])
    }
}
