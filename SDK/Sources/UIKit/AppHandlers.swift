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
        var wakes: [SessionWake] = []
        for part in parts {
            switch part {
            case .task(let task):
                if tasks[task.handler] == nil { names.append(task.handler) }
                tasks[task.handler, default: []].append(task)
            case .background(let action): backgrounds.append(action)
            case .wake(let wake): wakes.append(wake)
            }
        }
        // If a name is also registered as a launch handler, it occurs twice, and the host rejects
        // the plugin.
        var all = registered
        for name in names where wakes.isEmpty || name != AppHandler.session {
            let parts = tasks[name] ?? []
            all.append(Handler(name) { try await Self.execute(parts, $0) })
        }
        if !wakes.isEmpty {
            all.append(Self.sessionHandler(wakes, tasks[AppHandler.session] ?? []))
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

    private static func sessionHandler(_ delegates: [SessionWake], _ tasks: [AppTask]) -> Handler {
        Handler(AppHandler.session) { try await wake(delegates, tasks, $0) }.holdingDeliveries()
    }

    /// Tells app delegates of the wake of a session, calls the closures of scenes, and waits until the
    /// delegates end the wake.
    private static func wake(
        _ delegates: [SessionWake],
        _ tasks: [AppTask],
        _ context: TaskContext
    ) async throws {
        guard let session = context.wakeSession else { return try await execute(tasks, context) }
        let ends = delegates.map { delegate in
            let (end, source) = AsyncStream.makeStream(of: Void.self)
            delegate(session) { source.yield() }
            return end
        }
        // The delegate of the session may call the completion handler that the app delegate has
        // stored, so its events come after the call of the app delegate, as on iOS.
        context.sessions.release()
        try await execute(
            tasks + ends.map { end in AppTask(AppHandler.session) { _ in try await end.first() } },
            context
        )
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

extension AsyncStream<Void> {
    /// Waits for the first value.
    fileprivate func first() async throws {
        var values = makeAsyncIterator()
        // A stream without a value ends because the run was cancelled.
        guard await values.next() != nil else { throw CancellationError() }
    }
}
