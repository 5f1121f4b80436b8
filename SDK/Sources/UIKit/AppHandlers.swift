// SPDX-License-Identifier: Apache-2.0

package import BackgroundTasks
internal import UserNotifications

/// Builds the handlers of an app.
package struct AppHandlers {
    package let all: [Handler]

    package init(_ parts: [AppPart], _ collector: HandlerCollector) {
        let registered = collector.handlers
        var names: [String] = []
        var tasks: [String: [AppTask]] = [:]
        var backgrounds: [@Sendable () -> Void] = []
        for part in parts {
            switch part {
            case .task(let task):
                if tasks[task.handler] == nil { names.append(task.handler) }
                tasks[task.handler, default: []].append(task)
            case .background(let action): backgrounds.append(action)
            }
        }
        // If a name is also registered as a launch handler, it occurs twice, and the host rejects
        // the plugin.
        var all = registered
        for name in names {
            let parts = tasks[name] ?? []
            all.append(Handler(name) { try await Self.execute(parts, $0) })
        }
        let used = Set(all.map(\.name))
        if !used.contains(AppHandler.action) { all.append(.notificationAction) }
        if !used.contains(AppHandler.launch) {
            let actions = backgrounds
            all.append(
                Handler(AppHandler.launch, options: .serial) { _ in
                    for action in actions { action() }
                }
            )
        }
        collector.objects.becomeLast()
        self.all = all.map { $0.using(collector.objects) }
    }

    /// Calls all matching closures, even after one has failed; the first error is that of the run.
    private static func execute(_ tasks: [AppTask], _ context: TaskContext) async throws {
        var failure: (any Error)?
        for task in tasks {
            do {
                try await task.body(context)
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }
}
