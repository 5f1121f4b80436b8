// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostModel
internal import Hummingbird

/// The routes for pauses.
struct PauseRoutes: Sendable {
    let host: any HostControl

    func add(to endpoints: EndpointRouter) {
        endpoints.on(.pauses) { _, _ in
            Answer.json(Schema.pauses, API.Pauses(pauses: await host.pauses().map(API.Pause.init)))
        }
        endpoints.on(.pause) { request, context in
            try await pause(Query(request), by: context.caller)
        }
        endpoints.on(.resume) { request, _ in
            let target = try Self.target(Query(request))
            let change = try await ask { () throws(OperatorRefusal) in
                try await host.resume(target)
            }
            return Answer.json(Schema.resume, API.PauseAnswer(change))
        }
    }

    private func pause(_ query: Query, by caller: Caller?) async throws -> Response {
        let target = try Self.target(query)
        let reason = query.text("reason") ?? ""
        guard reason.utf8.count <= ControlLimits.reasonBytesMax else {
            throw ControlFault.badRequest(
                "the reason is longer than \(ControlLimits.reasonBytesMax) bytes"
            )
        }
        let seconds = try query.number("for", in: 1...ControlLimits.pauseSecondsMax)
        let end: PauseOrder.End
        switch (query.text("until"), seconds) {
        case (nil, nil): end = .open
        case (let text?, nil): end = .at(text)
        case (nil, let seconds?): end = .after(seconds)
        case (_?, _?): throw ControlFault.badRequest("give `until` or `for`, not both")
        }
        let order = PauseOrder(
            target: target,
            end: end,
            reason: reason,
            user: caller.map { "uid \($0.peer.uid)" } ?? "an unknown user"
        )
        let change = try await ask { () throws(OperatorRefusal) in try await host.pause(order) }
        return Answer.json(Schema.pause, API.PauseAnswer(change))
    }

    /// Exactly one of `task`, `plugin` and `all` is required; a default could pause too much.
    private static func target(_ query: Query) throws(ControlFault) -> PauseTarget {
        switch (query.text("task"), query.text("plugin"), try query.flag("all")) {
        case (let task?, nil, false):
            guard IdentifierPattern(task) != nil else {
                throw .badRequest(
                    "`task` must be an identifier, or a pattern such as `org.example.*`"
                )
            }
            return .tasks(task)
        case (nil, let plugin?, false): return .plugin(plugin)
        case (nil, nil, true): return .all
        default: throw .badRequest("give exactly one of `task`, `plugin` and `all=true`")
        }
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

extension Endpoint {
    static let pauseKeys = [
        QueryKey("task", "A task, or the pattern of several such as `org.example.*`."),
        QueryKey("plugin", "All tasks of this plugin."),
        QueryKey("all", "`true`: all tasks. Exactly one of the three is needed."),
    ]
}
