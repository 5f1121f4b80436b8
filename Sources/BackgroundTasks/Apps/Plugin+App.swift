// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension Plugin {
    /// Makes a plugin of an app.
    ///
    /// Its handlers are what its scenes and its `init` name, and:
    ///
    /// | handler | carries out |
    /// | --- | --- |
    /// | `urlSession.ID` | the wakes of a session |
    /// | `notificationAction` | what somebody did with a notification |
    /// | `launch` | what Apple's source does as the app is launched and left |
    ///
    /// - Parameters:
    ///   - id: in reverse DNS, such as `org.example.hello`.
    ///   - vendor: who made it, for people.
    public convenience init<Main: App>(
        id: String,
        version: String,
        vendor: String = "",
        app: Main.Type
    ) {
        let collector = HandlerCollector()
        let parts = HandlerCollector.$current.withValue(collector) { Main().body.parts.parts }
        let handlers = AppHandlers(parts, collector).all
        self.init(id: id, version: version, vendor: vendor, handlers)
    }

    /// Makes a plugin of the delegate of an app, with the handlers of `init(id:version:vendor:app:)`.
    public convenience init<Delegate: UIApplicationDelegate>(
        id: String,
        version: String,
        vendor: String = "",
        delegate: Delegate.Type
    ) {
        let collector = HandlerCollector()
        let delegate = HandlerCollector.$current.withValue(collector) {
            let delegate = Delegate()
            _ = delegate.application(.shared, didFinishLaunchingWithOptions: nil)
            return delegate
        }
        // Not Sendable in Apple's source; the handlers that call it are serial, as its launch handlers
        // are: what they share is the plugin's to guard, as it is on iOS.
        nonisolated(unsafe) let shared = delegate
        let launch = SceneParts.Part.phase { _ in shared.applicationDidEnterBackground(.shared) }
        let wake = SceneTask(.urlSession(matching: { _ in true })) { session in
            await withCheckedContinuation { continuation in
                let once = Once { continuation.resume() }
                shared.application(
                    .shared,
                    handleEventsForBackgroundURLSession: session,
                    completionHandler: { once() }
                )
            }
        }
        let handlers = AppHandlers([launch, .task(wake)], collector).all
        self.init(id: id, version: version, vendor: vendor, handlers)
    }
}

/// The handlers of an app.
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
        let taken = Set(registered.map(\.name))
        var all = registered
        for name in names where !taken.contains(name) {
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

    /// All that match are carried out, also after one that failed, whose error is the run's.
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
