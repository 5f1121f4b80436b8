// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BackgroundTasksTesting
import FoundationEssentials
import Testing
import UIKit

/// `BGContinuedProcessingTask`, as an app writes it, on the host for tests.
@Suite(.timeLimit(.minutes(5)))
struct ContinuedTaskTests {
    private static let tasks = """
        {"version": 1,
         "plugins": {"app": {"library": "libapp.so"}},
         "tasks": {"export": {"plugin": "app", "kind": "processing"},
                   "refresh": {"plugin": "app"}, "broken": {"plugin": "app"}}}
        """

    private final class Exporter: UIResponder, UIApplicationDelegate {
        func application(
            _ application: UIApplication,
            didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
        ) -> Bool {
            BGTaskScheduler.shared.register(forTaskWithIdentifier: "export", using: nil) { task in
                guard let task = task as? BGContinuedProcessingTask else { return }
                Logger().info("\(task.title) / \(task.subtitle)")
                task.progress.totalUnitCount = 4
                while !task.progress.isFinished {
                    task.progress.completedUnitCount += 1
                    let percent = Int(task.progress.fractionCompleted * 100)
                    task.updateTitle(task.title, subtitle: "\(percent) %")
                }
                task.setTaskCompleted(success: true)
            }
            BGTaskScheduler.shared.register(forTaskWithIdentifier: "refresh", using: nil) { task in
                task.setTaskCompleted(success: true)
            }
            BGTaskScheduler.shared.register(forTaskWithIdentifier: "broken", using: nil) { task in
                task.setTaskCompleted(success: false)  // the line of the error
            }
            return true
        }
    }

    private let host: TestHost

    init() throws {
        let plugin = Plugin(id: "org.example.export", version: "1", delegate: Exporter.self)
        host = try TestHost(plugin, tasks: Self.tasks)
    }

    private func makeRequest(
        _ identifier: String = "export"
    ) -> BGContinuedProcessingTaskRequest {
        BGContinuedProcessingTaskRequest(
            identifier: identifier,
            title: "Exporting",
            subtitle: "4 photos"
        )
    }

    @Test func `The run has the titles of its request, and the host its progress`() async throws {
        let request = makeRequest()
        #expect(request.strategy == .queue)
        request.parameters = ["album": "Summer"]
        try await host.submit(request)
        let run = try #require(host.runs.last)
        #expect(run.outcome == .succeeded)
        #expect(host.logs.map(\.message) == ["Exporting / 4 photos"])
        #expect(run.progress?.done == 4)
        #expect(run.progress?.total == 4)
        #expect(run.progress?.phase == "Exporting: 100 %")
        let titles = #""continuedProcessing":{"subtitle":"4 photos","title":"Exporting"}"#
        #expect(run.parameters.contains(titles), "\(run.parameters)")
        #expect(run.parameters.contains(#""album":"Summer""#), "\(run.parameters)")
    }

    @Test func `A run that reports a failure has the line of the report`() async throws {
        try await host.submit("broken")
        let error = try #require(host.runs.last?.error)
        #expect(host.runs.last?.message == "setTaskCompleted(success: false)")
        #expect(error.type == "BackgroundTasks.TaskUnsuccessful")
        #expect(error.file == #fileID)
        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[error.line - 1].hasSuffix("// the line of the error"), "\(error)")
        // The method is a value, too.
        let complete: (BGTask) -> (Bool) -> Void = { $0.setTaskCompleted(success:) }
        _ = complete
    }

    @Test func `A run without titles, as of an operator, works too`() async throws {
        let run = try await host.launch("export")
        #expect(run.outcome == .succeeded)
        #expect(host.logs.map(\.message) == [" / "])
        #expect(run.progress?.phase == ": 100 %")
    }

    @Test func `With the strategy fail, it starts at once or throws immediateRunIneligible`()
        async throws
    {
        let tasks = Self.tasks.replacing(
            #""kind": "processing""#,
            with: #""kind": "processing", "requires": {"externalPower": true}"#
        )
        let plugin = Plugin(id: "org.example.export", version: "1", delegate: Exporter.self)
        let host = try TestHost(plugin, tasks: tasks)
        func submit(_ strategy: BGContinuedProcessingTaskRequest.SubmissionStrategy) async throws {
            let request = makeRequest()
            request.strategy = strategy
            try await host.submit(request)
        }
        try await submit(.fail)
        #expect(host.runs.count == 1)

        host.set(.externalPower, to: false)
        let error = await #expect(throws: BGTaskScheduler.Error.self) { try await submit(.fail) }
        #expect(error?.code == .immediateRunIneligible)
        #expect(error?.reason.contains("requirement: ") == true, "\(String(describing: error))")
        #expect(host.pending.isEmpty)

        try await submit(.queue)
        #expect(host.pending.map(\.identifier) == ["export"])
        let again = await #expect(throws: BGTaskScheduler.Error.self) { try await submit(.fail) }
        #expect(again?.code == .immediateRunIneligible)
        #expect(host.pending.count == 1)
        host.set(.externalPower, to: true)
        try await host.advance(by: .seconds(60))
        #expect(host.runs.count == 2)
    }

    @Test func `A task of another kind, and a graphics processor, are not permitted`() async throws
    {
        let refused = await #expect(throws: BGTaskScheduler.Error.self) {
            try await host.submit(makeRequest("refresh"))
        }
        #expect(refused != nil)
        let request = makeRequest()
        request.requiredResources = .gpu
        #expect(!BGTaskScheduler.supportedResources.contains(.gpu))
        let error = #expect(throws: BGTaskScheduler.Error.self) {
            try BGTaskScheduler.shared.submit(request)
        }
        #expect(error?.code == .notPermitted)
        #expect(error?.reason.contains("requiredResources") == true)
    }

    @Test func `A handler submits with a callback and without blocking, and appends`() async throws
    {
        let tasks = """
            {"version": 1,
             "plugins": {"app": {"library": "libapp.so"}},
             "tasks": {"go": {"plugin": "app"}, "later": {"plugin": "app"}}}
            """
        let plugin = Plugin(id: "org.example.append", version: "1") {
            Handler("go") { context in
                let tomorrow = context.now + 86_400
                let scheduler = BGTaskScheduler.shared
                func later(_ number: Int) -> BGTaskRequest {
                    let request = BGAppRefreshTaskRequest(identifier: "later")
                    request.earliestBeginDate = tomorrow
                    request.parameters = ["number": number]
                    request.onConflict = .append
                    return request
                }
                try await scheduler.submitTaskRequest(later(1))
                let error: (any Error)? = await withCheckedContinuation { continuation in
                    scheduler.submitTaskRequest(later(2)) { continuation.resume(returning: $0) }
                }
                guard error == nil else { return "refused" }
                let other = BGAppRefreshTaskRequest(identifier: "unknown")
                let refusal: (any Error)? = await withCheckedContinuation { continuation in
                    scheduler.submitTaskRequest(other) { continuation.resume(returning: $0) }
                }
                return (refusal as? BGTaskScheduler.Error).map { "\($0.code)" } ?? "accepted"
            }
            Handler("later") { _ in }
        }
        let host = try TestHost(plugin, tasks: tasks)
        let run = try await host.launch("go")
        #expect(run.result == #""notPermitted""#, "\(run)")
        #expect(host.pending.map(\.identifier) == ["later", "later"])
    }
}
