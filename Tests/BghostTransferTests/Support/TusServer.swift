// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A server of tus 1.0.0, which keeps what comes before a connection breaks.
final class TusServer: Sendable {
    struct State {
        var received: [UInt8] = []
        var creations = 0
        var sent = 0
        var log: [String] = []
        var place = "/files/1"
    }

    let state = Mutex(State())

    func answer(_ request: RawRequest, _ responder: RawResponder) async throws -> After {
        let step = state.withLock { state -> (Int, [(String, String)]) in
            state.log.append(request.method)
            guard request["tus-resumable"] == "1.0.0" else { return (412, []) }
            switch (request.method, request.target) {
            case ("OPTIONS", _):
                return (204, [("Tus-Version", "1.0.0"), ("Tus-Extension", "creation")])
            case ("POST", "/files"):
                state.creations += 1
                state.received = []
                return (201, [("Location", state.place)])
            case ("HEAD", state.place):
                return (200, [("Upload-Offset", "\(state.received.count)")])
            case ("PATCH", state.place):
                guard request["upload-offset"] == "\(state.received.count)",
                    request["content-type"] == "application/offset+octet-stream"
                else { return (409, []) }
                state.received += request.body
                state.sent += request.body.count
                let isCut = request.body.count < Int(request["content-length"] ?? "") ?? 0
                return (isCut ? 0 : 204, [("Upload-Offset", "\(state.received.count)")])
            default: return (404, [])
            }
        }
        guard step.0 > 0 else { return .close }
        try await responder.head(
            step.0,
            step.1 + [("Tus-Resumable", "1.0.0")]
                + (step.0 == 204 ? [] : [("Content-Length", "0")])
        )
        return .keep
    }
}
