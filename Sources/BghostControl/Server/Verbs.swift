// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostModel
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore

/// Requests that change something: only operators may send them, and each is reported.
enum Verbs {
    static func answer(
        _ request: Request,
        on channel: any Channel,
        _ told: @Sendable (ControlVerb) -> Void,
        _ answer: () async throws -> Response
    ) async throws -> Response {
        guard request.method != .get, request.method != .head else { return try await answer() }
        let (peer, role) = try await channel.eventLoop.submit {
            let gate = try channel.pipeline.syncOperations.handler(type: PeerGate.self)
            return (gate.peer, gate.role)
        }.get()
        var verb = ControlVerb(
            method: request.method.rawValue,
            path: String(request.uri.path.prefix(pathCharactersMax)),
            peer: peer,
            status: 500
        )
        defer { told(verb) }
        let response =
            role == .operate
            ? try await answer()
            : Answer.fault(
                ControlFault(
                    .readOnly,
                    "user \(peer.uid) may look at this daemon and not change anything",
                    fix: "ask its operator, or set `host.controlRole` in its manifest"
                )
            )
        verb.status = response.status.code
        return response
    }

    private static let pathCharactersMax = 300
}
