// SPDX-License-Identifier: Apache-2.0

package import BackgroundTasks

/// A part of an app that has something to do in runs.
package enum AppPart: Sendable {
    /// Is called in runs of a handler.
    case task(AppTask)
    /// Is called in runs of the handler `launch`.
    case background(@Sendable () -> Void)
}

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
        let wake = AppTask(AppHandler.session) { context in
            guard let session = context.wakeSession else { return }
            await withCheckedContinuation { continuation in
                let once = Once { continuation.resume() }
                shared.application(
                    .shared,
                    handleEventsForBackgroundURLSession: session,
                    completionHandler: { once() }
                )
            }
        }
        return [.background { shared.applicationDidEnterBackground(.shared) }, .task(wake)]
    }
}
