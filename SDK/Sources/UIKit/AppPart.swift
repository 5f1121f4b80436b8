// SPDX-License-Identifier: Apache-2.0

package import BackgroundTasks

/// A part of an app that has something to do in runs.
package enum AppPart: Sendable {
    /// Is called in runs of a handler.
    case task(AppTask)
    /// Is called in runs of the handler `launch`.
    case background(@Sendable () -> Void)
    /// Is told of the wakes of sessions that have no handler of their own.
    case wake(SessionWake)
}

/// Tells an app delegate of the wake of a session; the delegate calls `done` to end the run.
package typealias SessionWake =
    @Sendable (_ session: String, _ done: @escaping @Sendable () -> Void) -> Void

/// A closure of an app, with the handler that calls it.
package struct AppTask: Sendable {
    let handler: String
    let body: @Sendable (TaskContext) async throws -> Void

    /// Creates a task.
    package init(
        _ handler: String,
        _ body: @escaping @Sendable (TaskContext) async throws -> Void
    ) {
        self.handler = handler
        self.body = body
    }
}

extension UIApplicationDelegate {
    /// The parts of an app that call the delegate in runs.
    var parts: [AppPart] {
        nonisolated(unsafe) let shared = self
        return [
            .background { shared.applicationDidEnterBackground(.shared) },
            .wake { session, done in
                shared.application(
                    .shared,
                    handleEventsForBackgroundURLSession: session,
                    completionHandler: done
                )
            },
        ]
    }
}
