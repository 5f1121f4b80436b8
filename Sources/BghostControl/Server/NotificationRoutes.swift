// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import Hummingbird
internal import NIOCore

/// The routes for notifications and their answers.
struct NotificationRoutes: Sendable {
    let notifications: any NotificationControl

    func add(to router: Router<ControlRoutes.Context>) {
        router.get("v1/notifications") { _, _ in try await outbox() }
        router.post("v1/notifications/test") { _, _ in try await test() }
        router.post("v1/notifications/act") { request, _ in try await act(request) }
    }

    private func outbox() async throws -> Response {
        let rows = try await ask { () throws(OperatorRefusal) in try await notifications.outbox() }
        return Answer.json(Schema.outbox) { writer in
            writer.member("notifications") { writer in
                writer.array { writer in
                    for row in rows { writer.object { $0.members(row) } }
                }
            }
        }
    }

    private func test() async throws -> Response {
        let posted = try await ask { () throws(OperatorRefusal) in
            try await notifications.postTestNotification()
        }
        return Answer.json(Schema.notification, status: .accepted) { $0.members(posted) }
    }

    private func act(_ request: Request) async throws -> Response {
        let body = try await request.body.collect(upTo: ControlLimits.bodyBytesMax)
        let json: JSONNode
        do throws(JSONError) {
            json = try JSONReader.parse(body.readableBytesView)
        } catch {
            throw ControlFault.badRequest("the body is no JSON: \(error.description)")
        }
        guard json.object != nil else {
            throw ControlFault.badRequest("the body is no JSON object")
        }
        guard let id = json["id"]?.string, let action = json["action"]?.string else {
            throw ControlFault.badRequest("`id` and `action` must be strings")
        }
        let answer = try await ask { () throws(OperatorRefusal) in
            try await notifications.act(
                on: .id(id, plugin: json["plugin"]?.string),
                action: action,
                text: json["text"]?.string
            )
        }
        return Answer.json(Schema.answer, status: .accepted) { $0.members(answer) }
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
