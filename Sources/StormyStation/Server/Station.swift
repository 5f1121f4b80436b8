// SPDX-License-Identifier: Apache-2.0
package import FoundationEssentials
package import Hummingbird

/// What the station answers: the routes, without a socket.
package struct Station: Sendable {
    private let recorder: Recorder
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - recorder: where everything that arrives is written down.
    ///   - now: the wall clock.
    package init(recorder: Recorder, now: @escaping @Sendable () -> Date = { Date() }) {
        self.recorder = recorder
        self.now = now
    }

    package func router() -> Router<BasicRequestContext> {
        let forecasts = ForecastRoute(recorder: recorder, now: now)
        let photos = PhotoRoute(recorder: recorder, now: now)
        let notifications = NotificationRoute(recorder: recorder, now: now)

        let router = Router()
        router.add(middleware: RefusalCounter(recorder: recorder))
        router.get("v1/forecast") { request, _ in try forecasts.get(request) }
        router.put("photos/:name") { request, context in
            try await photos.put(request, segment: context.parameters.require("name"))
        }
        router.get("record") { [recorder] _, _ in try Response.json(recorder.record) }
        router.delete("record") { [recorder] _, _ in
            recorder.clear()
            return Response(status: .noContent)
        }
        // The first segments of the routes above are topics too; the trie does not go back to
        // `:topic` once it has taken one of them.
        for topic in ["v1", "photos", "record"] {
            router.post(RouterPath(topic)) { request, _ in
                try await notifications.post(request, topic: topic)
            }
        }
        router.post("/") { request, _ in try await notifications.post(request) }
        router.post(":topic") { request, context in
            try await notifications.post(request, topic: context.parameters.require("topic"))
        }
        return router
    }
}

/// Counts whatever is answered with an error, also what no route takes.
private struct RefusalCounter: RouterMiddleware {
    let recorder: Recorder

    func handle(
        _ request: Request,
        context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            recorder.addRefusal()
            throw error
        }
    }
}
