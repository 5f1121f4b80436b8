// SPDX-License-Identifier: Apache-2.0
package import FoundationEssentials
package import Hummingbird

/// The routes of the station, without a socket.
package struct Station: Sendable {
    private let recorder: Recorder
    private let mishaps: Mishaps
    private let editions = Editions()
    private let uploads = Uploads()
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - recorder: records everything that arrives.
    ///   - mishaps: the planned failures.
    ///   - now: the wall clock.
    package init(
        recorder: Recorder,
        mishaps: Mishaps = Mishaps(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.recorder = recorder
        self.mishaps = mishaps
        self.now = now
    }

    package func router() -> Router<StationContext> {
        let router = Router(context: StationContext.self)
        router.add(middleware: RefusalCounter(recorder: recorder))
        addForecasts(to: router)
        addPhotos(to: router)
        let mishaps = MishapRoute(mishaps: mishaps)
        router.put("mishaps/:place/:kind") { _, context in
            try mishaps.put(
                place: context.parameters.require("place"),
                kind: context.parameters.require("kind")
            )
        }
        router.delete("mishaps") { _, _ in mishaps.delete() }
        router.get("record") { [recorder] _, _ in try Response.json(recorder.record) }
        router.delete("record") { [recorder] _, _ in
            recorder.clear()
            return Response(status: .noContent)
        }
        addNotifications(to: router)
        return router
    }

    private func addForecasts(to router: Router<StationContext>) {
        let forecasts = ForecastRoute(
            recorder: recorder,
            mishaps: mishaps,
            editions: editions,
            now: now
        )
        router.get("v1/forecast") { request, context in try forecasts.get(request, context) }
    }

    private func addPhotos(to router: Router<StationContext>) {
        let photos = PhotoRoute(recorder: recorder, mishaps: mishaps, now: now)
        let tus = UploadRoute(recorder: recorder, mishaps: mishaps, uploads: uploads, now: now)
        router.put("photos/:name") { request, context in
            try await photos.put(request, segment: context.parameters.require("name"), context)
        }
        router.on("photos", method: .options) { _, _ in tus.options() }
        router.head("uploads/:id") { request, context in
            try await tus.head(request, id: context.parameters.require("id"))
        }
        router.patch("uploads/:id") { request, context in
            try await tus.patch(request, id: context.parameters.require("id"), context)
        }
        // Both are sent to the same path; a tus client is recognized by its headers.
        let notifications = NotificationRoute(recorder: recorder, now: now)
        router.post("photos") { request, _ in
            request.headers[.tusResumable] == nil
                ? try await notifications.post(request, topic: "photos") : try tus.create(request)
        }
    }

    private func addNotifications(to router: Router<StationContext>) {
        let notifications = NotificationRoute(recorder: recorder, now: now)
        // The first segments of other routes are topics too, but the router does not go back to `:topic`
        // after it has matched one of them.
        for topic in ["v1", "record", "uploads", "mishaps"] {
            router.post(RouterPath(topic)) { request, _ in
                try await notifications.post(request, topic: topic)
            }
        }
        router.post("/") { request, _ in try await notifications.post(request) }
        router.post(":topic") { request, context in
            try await notifications.post(request, topic: context.parameters.require("topic"))
        }
    }
}

/// Counts all error responses, including those for unknown routes.
private struct RefusalCounter: RouterMiddleware {
    let recorder: Recorder

    func handle(
        _ request: Request,
        context: StationContext,
        next: (Request, StationContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            // A planned interruption is not a refusal.
            if !(error is StationContext.Cut) { recorder.addRefusal() }
            throw error
        }
    }
}
