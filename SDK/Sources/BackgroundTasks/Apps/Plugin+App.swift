// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension Plugin {
    /// Creates a plugin from an app.
    ///
    /// Its handlers are those that its scenes and its `init` declare, and these:
    ///
    /// | handler | handles |
    /// | --- | --- |
    /// | `urlSession.ID` | wakes of a session |
    /// | `notificationAction` | a user's response to a notification |
    /// | `launch` | the app's code for launch and for entering the background |
    ///
    /// - Parameters:
    ///   - id: a reverse DNS name, such as `org.example.hello`.
    ///   - version: the version of the plugin.
    ///   - vendor: the name of the vendor.
    ///   - app: the type of the app.
    public convenience init<Main: App>(
        id: String,
        version: String,
        vendor: String = "",
        app: Main.Type
    ) {
        let collector = HandlerCollector()
        let parts = HandlerCollector.$current.withValue(collector) {
            let main = Main()
            let adapted = collector.launchDelegates()
            return main.body.parts.parts + adapted
        }
        let handlers = AppHandlers(parts, collector).all
        self.init(id: id, version: version, vendor: vendor, handlers)
    }

    /// Creates a plugin from an app delegate, with the handlers of `init(id:version:vendor:app:)`.
    public convenience init<Delegate: UIApplicationDelegate>(
        id: String,
        version: String,
        vendor: String = "",
        delegate: Delegate.Type
    ) {
        let collector = HandlerCollector()
        let parts = HandlerCollector.$current.withValue(collector) {
            collector.adopt(Delegate())
            return collector.launchDelegates()
        }
        let handlers = AppHandlers(parts, collector).all
        self.init(id: id, version: version, vendor: vendor, handlers)
    }
}

/// Builds the handlers of an app.
private struct AppHandlers {
    let all: [Handler]

    init(_ parts: [SceneParts.Part], _ collector: HandlerCollector) {
        let registered = collector.handlers
        var names: [String] = []
        var tasks: [String: [SceneTask]] = [:]
        var phases: [@Sendable (ScenePhase) -> Void] = []
        for part in parts {
            switch part {
            case .task(let task):
                if tasks[task.handler] == nil { names.append(task.handler) }
                tasks[task.handler, default: []].append(task)
            case .phase(let action): phases.append(action)
            }
        }
        // If a name is also registered as a launch handler, it occurs twice, and the host rejects
        // the plugin.
        var all = registered
        for name in names {
            let parts = tasks[name] ?? []
            all.append(Handler(name) { try await Self.carryOut(parts, $0) })
        }
        let used = Set(all.map(\.name))
        if !used.contains(AppHandler.action) { all.append(.notificationAction) }
        if !used.contains(AppHandler.launch) {
            let actions = phases
            all.append(
                Handler(AppHandler.launch, options: .serial) { _ in
                    for action in actions { action(.background) }
                }
            )
        }
        let center = collector.center
        UNUserNotificationCenter.latest.withLock { $0 = center }
        self.all = all.map { $0.using(center) }
    }

    /// Calls all matching closures, even after one has failed; the first error is that of the run.
    private static func carryOut(_ tasks: [SceneTask], _ context: TaskContext) async throws {
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
