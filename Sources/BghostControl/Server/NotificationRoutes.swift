// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import Hummingbird
internal import NIOCore

/// The routes for notifications and their answers.
struct NotificationRoutes: Sendable {
    let notifications: any NotificationControl

    func add(to endpoints: EndpointRouter) {
        endpoints.on(.outbox) { _, _ in try await outbox() }
        endpoints.on(.testNotification) { _, _ in try await test() }
        endpoints.on(.act) { request, _ in try await act(request) }
    }

    private func outbox() async throws -> Response {
        let rows = try await ask { () throws(OperatorRefusal) in try await notifications.outbox() }
        return Answer.json(Schema.outbox, API.Outbox(notifications: rows))
    }

    private func test() async throws -> Response {
        let posted = try await ask { () throws(OperatorRefusal) in
            try await notifications.postTestNotification()
        }
        return Answer.json(Schema.notification, status: .accepted, posted)
    }

    private func act(_ request: Request) async throws -> Response {
        let body = try await request.wholeBody(bytesMax: ControlLimits.bodyBytesMax)
        let act = try API.ActBody(json: Array(body.readableBytesView))
        AuditScope.concerns(act.id, body: body)
        let answer = try await ask { () throws(OperatorRefusal) in
            try await notifications.act(
                on: .id(act.id, plugin: act.plugin),
                action: act.action,
                text: act.text
            )
        }
        return Answer.json(Schema.answer, status: .accepted, answer)
    }

    private func ask<Value>(
        _ body: () async throws(OperatorRefusal) -> Value
    ) async throws(ControlFault) -> Value {
        do {
            return try await body()
        } catch {
            throw ControlFault(error)
        }
    }
}
