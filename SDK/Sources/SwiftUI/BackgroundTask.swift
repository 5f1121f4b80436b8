// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import UIKit

/// The kind of runs that a closure of a scene handles; `Request` is the type of the closure's
/// argument.
public struct BackgroundTask<Request: Sendable>: Sendable {
    /// The handler of the plugin that calls the closure.
    let handler: String
    /// Returns the closure's argument for a run; `nil` if the closure does not handle the run.
    let request: @Sendable (TaskContext) -> Request?
}

extension BackgroundTask<Void> {
    /// Runs of the handler with this name, for tasks of any kind.
    public static func appRefresh(_ identifier: String) -> BackgroundTask<Void> {
        BackgroundTask(handler: identifier) { _ in () }
    }
}

extension BackgroundTask<String> {
    /// Wakes of the session with this identifier: the handler `urlSession.IDENTIFIER`.
    public static func urlSession(_ identifier: String) -> BackgroundTask<String> {
        BackgroundTask(handler: AppHandler.session + "." + identifier) { context in
            context.wakeSession ?? identifier
        }
    }

    /// Wakes of the sessions that `isWanted` accepts and that have no handler of their own: the
    /// handler `urlSession`.
    public static func urlSession(
        matching isWanted: @escaping @Sendable (String) -> Bool
    ) -> BackgroundTask<String> {
        BackgroundTask(handler: AppHandler.session) { context in
            context.wakeSession.flatMap { isWanted($0) ? $0 : nil }
        }
    }
}

extension Scene {
    /// Handles runs with a closure.
    ///
    /// If several closures match a run, all are called, one after the other.
    ///
    /// - Parameters:
    ///   - task: the runs that the closure handles.
    ///   - action: the closure. If it throws, the run fails.
    /// - Returns: the scene with this modifier.
    public func backgroundTask(
        _ task: BackgroundTask<Void>,
        action: @escaping @Sendable () async throws -> Void
    ) -> some Scene {
        ModifiedScene(scene: self, part: .task(AppTask(task) { try await action() }))
    }

    /// Handles the wakes of a session with a closure, as the form with an argument.
    public func backgroundTask(
        _ task: BackgroundTask<String>,
        action: @escaping @Sendable () async throws -> Void
    ) -> some Scene {
        ModifiedScene(scene: self, part: .task(AppTask(task) { _ in try await action() }))
    }

    /// Handles the wakes of a session with a closure, whose argument is the session's identifier.
    public func backgroundTask(
        _ task: BackgroundTask<String>,
        action: @escaping @Sendable (String) async throws -> Void
    ) -> some Scene {
        ModifiedScene(scene: self, part: .task(AppTask(task, action)))
    }
}

extension AppTask {
    fileprivate init<Request>(
        _ task: BackgroundTask<Request>,
        _ action: @escaping @Sendable (Request) async throws -> Void
    ) {
        self.init(task.handler) { context in
            guard let request = task.request(context) else { return }
            try await action(request)
        }
    }
}
