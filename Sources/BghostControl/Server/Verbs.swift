// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore

/// Requests that change something, each of which is reported.
enum Verbs {
    static func isVerb(_ request: Request) -> Bool {
        request.method != .get && request.method != .head
    }

    /// The client at the other end of a connection of the control socket.
    static func caller(on channel: any Channel) async throws -> Caller? {
        try await channel.eventLoop.submit {
            let gate = try channel.pipeline.syncOperations.handler(type: PeerGate.self)
            return gate.role.map { Caller(peer: gate.peer, role: $0) }
        }.get()
    }

    /// Answers a request, and reports it if it changes something.
    static func answer(
        _ request: Request,
        by caller: Caller?,
        _ told: @Sendable (ControlVerb) -> Void,
        _ answer: () async throws -> Response
    ) async throws -> Response {
        guard isVerb(request), let caller else { return try await answer() }
        var verb = ControlVerb(
            method: request.method.rawValue,
            path: String(request.uri.path.prefix(pathCharactersMax)),
            caller: caller,
            status: 500
        )
        defer { told(verb) }
        let response = try await answer()
        verb.status = response.status.code
        return response
    }

    private static let pathCharactersMax = 300
}
