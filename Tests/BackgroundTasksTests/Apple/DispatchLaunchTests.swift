// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BackgroundTasksTesting
import Dispatch
import Testing
import UIKit

/// Launch handlers on Dispatch's own queues, as a file has them that imports full Foundation.
@Suite(.timeLimit(.minutes(5)))
struct DispatchLaunchTests {
    private final class Delegate: UIApplicationDelegate {
        init() {
            let queue = Dispatch.DispatchQueue(label: "launch")
            let scheduler = BGTaskScheduler.shared
            scheduler.register(forTaskWithIdentifier: "own", using: queue) { task in
                dispatchPrecondition(condition: .onQueue(queue))
                // In the run, which the queue itself does not know.
                Logger().info(TaskContext.current?.taskIdentifier ?? "no run")
                task.setTaskCompleted(success: true)
            }
            // Served by no test host.
            let main = Dispatch.DispatchQueue.main
            scheduler.register(forTaskWithIdentifier: "main", using: main) { task in
                task.setTaskCompleted(success: false)
            }
        }
    }

    @Test func `A launch handler is called on a queue of Dispatch`() async throws {
        let plugin = Plugin(id: "org.example.dispatch", version: "1", delegate: Delegate.self)
        let host = try TestHost(plugin)
        #expect(try await host.launch("own").outcome == .succeeded)
        #expect(host.logs.map(\.message) == ["own"])
        #expect(try await host.launch("main").outcome == .failed)
    }
}
