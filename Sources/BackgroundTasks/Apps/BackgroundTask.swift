// SPDX-License-Identifier: Apache-2.0

/// What a closure of a scene is for; `Request` is what it is given.
public struct BackgroundTask<Request: Sendable>: Sendable {
    /// Which handler of the plugin the closure is a part of.
    let handler: String
    /// What the closure is given in a run; `nil` if the run is not for it.
    let request: @Sendable (TaskContext) -> Request?
}

extension BackgroundTask<Void> {
    /// The runs of the handler of this name, which tasks of any kind may have.
    public static func appRefresh(_ identifier: String) -> BackgroundTask<Void> {
        BackgroundTask(handler: identifier) { _ in () }
    }
}

extension BackgroundTask<String> {
    /// The wakes of the session of this identifier: the handler `urlSession.IDENTIFIER`.
    public static func urlSession(_ identifier: String) -> BackgroundTask<String> {
        BackgroundTask(handler: AppHandler.session + "." + identifier) { context in
            context.wakeSession ?? identifier
        }
    }

    /// The wakes of all sessions that have no handler of their own and are wanted: the handler
    /// `urlSession`.
    public static func urlSession(
        matching isWanted: @escaping @Sendable (String) -> Bool
    ) -> BackgroundTask<String> {
        BackgroundTask(handler: AppHandler.session) { context in
            context.wakeSession.flatMap { isWanted($0) ? $0 : nil }
        }
    }
}

/// Handlers that the SDK names.
enum AppHandler {
    static let session = "urlSession"
    static let action = "notificationAction"
    static let launch = "launch"
}

extension Scene {
    /// Has a closure carry out runs; all that match a run are carried out, one after the other.
    public func backgroundTask(
        _ task: BackgroundTask<Void>,
        action: @escaping @Sendable () async throws -> Void
    ) -> some Scene {
        ModifiedScene(scene: self, part: .task(SceneTask(task) { try await action() }))
    }

    /// Has a closure carry out wakes of a session.
    public func backgroundTask(
        _ task: BackgroundTask<String>,
        action: @escaping @Sendable () async throws -> Void
    ) -> some Scene {
        ModifiedScene(scene: self, part: .task(SceneTask(task) { _ in try await action() }))
    }

    /// Has a closure carry out wakes of a session, whose identifier it is given.
    public func backgroundTask(
        _ task: BackgroundTask<String>,
        action: @escaping @Sendable (String) async throws -> Void
    ) -> some Scene {
        ModifiedScene(scene: self, part: .task(SceneTask(task, action)))
    }
}

/// A closure of a scene, and the handler that it is a part of.
struct SceneTask: Sendable {
    let handler: String
    let body: @Sendable (TaskContext) async throws -> Void

    init<Request>(
        _ task: BackgroundTask<Request>,
        _ action: @escaping @Sendable (Request) async throws -> Void
    ) {
        handler = task.handler
        body = { context in
            guard let request = task.request(context) else { return }
            try await action(request)
        }
    }
}
