// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BackgroundTasksTesting
import FoundationEssentials
import SwiftUI
import Synchronization
import Testing

/// Launch handlers, and the queues of Apple's source.
@Suite(.timeLimit(.minutes(5)))
struct LaunchHandlerTests {
    private static let answers = Mutex<[Bool]>([])

    private struct RegisteringApp: App {
        init() {
            let scheduler = BGTaskScheduler.shared
            let answers = [
                scheduler.register(forTaskWithIdentifier: "well", using: nil) { task in
                    let refresh = task as? BGAppRefreshTask
                    refresh?.setTaskCompleted(success: true)
                    // Only the first counts.
                    task.setTaskCompleted(success: false)
                },
                scheduler.register(forTaskWithIdentifier: "not a name", using: nil) { _ in },
                scheduler.register(forTaskWithIdentifier: "badly", using: .main) { task in
                    task.setTaskCompleted(success: false)
                },
                scheduler.register(forTaskWithIdentifier: "long", using: .global()) { task in
                    let task = task as? BGProcessingTask
                    task?.expirationHandler = {
                        Logger().info("expired")
                        task?.setTaskCompleted(success: true)
                    }
                },
            ]
            LaunchHandlerTests.answers.withLock { $0 = answers }
        }

        var body: some Scene { WindowGroup {} }
    }

    @Test func `A launch handler ends its run with setTaskCompleted`() async throws {
        let plugin = Plugin(id: "org.example.launch", version: "1", app: RegisteringApp.self)
        #expect(Self.answers.withLock { $0 } == [true, false, true, true])
        #expect(!BGTaskScheduler.shared.register(forTaskWithIdentifier: "late") { _ in })
        let host = try TestHost(plugin)
        #expect(try await host.launch("well").outcome == .succeeded)
        let failed = try await host.launch("badly")
        #expect(failed.outcome == .failed)
        #expect(failed.message == "setTaskCompleted(success: false)")
        let expiring = try TestHost(plugin)
        let expired = try await expiring.launchAndExpire("long")
        #expect(expired.outcome == .succeeded)
        #expect(expired.stopReason == .expired)
        // The thread that cancels is none of the run's, and yet the line is the run's.
        #expect(expiring.logs.map(\.message) == ["expired"])
        #expect(expiring.logs.map(\.identifier) == ["long"])
    }

    @Test func `A registration in a run has no effect, and the log says so`() async throws {
        let plugin = Plugin(id: "org.example.launch", version: "1") {
            Handler("a") { _ in
                BGTaskScheduler.shared.register(forTaskWithIdentifier: "late") { _ in }
            }
        }
        let host = try TestHost(plugin)
        let run = try await host.launch("a")
        #expect(run.result == "false", "\(run)")
        let line = try #require(host.logs.first)
        #expect(line.level == .error && line.identifier == "a")
        #expect(line.message.hasPrefix(#"register(forTaskWithIdentifier: "late") came after"#))
    }

    @Test func `Work on a serial queue keeps its order and knows its run`() async throws {
        let events = Events()
        let plugin = Plugin(id: "org.example.queue", version: "1") {
            Handler("a") { _ in
                for number in 1...20 {
                    DispatchQueue.main.async {
                        events.note("\(number) \(TaskContext.current?.taskIdentifier ?? "-")")
                    }
                }
                await withCheckedContinuation { continuation in
                    DispatchQueue.main.async { continuation.resume() }
                }
            }
        }
        let run = try await TestHost(plugin).launch("a")
        #expect(run.outcome == .succeeded)
        #expect(events.all == (1...20).map { "\($0) a" })
    }

    @Test func `Operations of the main queue run one after the other, in their order`() async throws
    {
        let events = Events()
        let plugin = Plugin(id: "org.example.main", version: "1") {
            Handler("a") { _ in
                for number in 1...20 {
                    OperationQueue.main.addOperation {
                        events.note("\(number) \(TaskContext.current?.taskIdentifier ?? "-")")
                    }
                }
                await withCheckedContinuation { continuation in
                    OperationQueue.main.addOperation { continuation.resume() }
                }
            }
        }
        #expect(try await TestHost(plugin).launch("a").outcome == .succeeded)
        #expect(events.all == (1...20).map { "\($0) a" })
    }

    @Test func `A task that is over retains no expiration handler`() async throws {
        let plugin = Plugin(id: "org.example.launch", version: "1", app: ExpiringApp.self)
        let host = try TestHost(plugin)
        #expect(try await host.launchAndExpire("a").outcome == .cancelled)
        #expect(host.logs.map(\.message) == ["retained: false"])
    }

    private struct ExpiringApp: App {
        init() {
            BGTaskScheduler.shared.register(forTaskWithIdentifier: "a") { task in
                let context = TaskContext.current
                task.expirationHandler = {
                    task.setTaskCompleted(success: false)
                    task.expirationHandler = {}
                    context?.log(.info, "retained: \(task.expirationHandler != nil)")
                }
            }
        }

        var body: some Scene { WindowGroup {} }
    }

    @Test func `An error has a description for people`() {
        struct Told: LocalizedError { var errorDescription: String? { "told" } }
        struct Plain: Error {}
        #expect((Told() as any Error).localizedDescription == "told")
        #expect((Plain() as any Error).localizedDescription == "Plain()")
    }

    @Test func `Operations wait for their dependencies and report their end`() async throws {
        let events = Events()
        await withCheckedContinuation { continuation in
            let queue = OperationQueue()
            let first = BlockOperation { events.note("first") }
            let second = BlockOperation { events.note("second") }
            let never = BlockOperation { events.note("never") }
            second.addDependency(first)
            second.completionBlock = { continuation.resume() }
            never.cancel()
            for operation in [never, second, first] { queue.addOperation(operation) }
        }
        #expect(events.all == ["first", "second"])

        // A block that comes too late is called all the same.
        let over = BlockOperation {}
        over.start()
        let queue = OperationQueue()
        await withCheckedContinuation { continuation in
            let operation = BlockOperation {}
            queue.addOperation(operation)
            queue.addOperation {
                operation.completionBlock = { continuation.resume() }
            }
        }
        #expect(over.isFinished)
    }
}
