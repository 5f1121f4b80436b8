// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A server of one file, in order but for what a test spoils.
final class FileHost: Sendable {
    private struct State {
        var requests: [RawRequest] = []
        var bodyBytes = 0
        var content: [UInt8]
        var tag: String
    }

    private let state: Mutex<State>

    init(_ content: [UInt8], tag: String = "\"v1\"") {
        state = Mutex(State(content: content, tag: tag))
    }

    var requests: [RawRequest] { state.withLock { $0.requests } }
    /// How many bytes of bodies it has sent.
    var bodyBytes: Int { state.withLock { $0.bodyBytes } }

    /// Another version takes the place of the one before.
    func replace(_ content: [UInt8], tag: String) {
        state.withLock { state in
            state.content = content
            state.tag = tag
        }
    }

    /// Counts a request.
    ///
    /// - Returns: which one it is, from 1 on.
    func note(_ request: RawRequest) -> Int {
        state.withLock { state in
            state.requests.append(request)
            return state.requests.count
        }
    }

    /// Answers as a server does that knows ranges.
    ///
    /// - Parameters:
    ///   - cut: after so many bytes of the body the connection is closed.
    ///   - isChunked: whether the length is not said.
    func serve(
        _ request: RawRequest,
        _ responder: RawResponder,
        cut: Int? = nil,
        isChunked: Bool = false,
        more: [(String, String)] = []
    ) async throws -> After {
        let (content, tag) = state.withLock { ($0.content, $0.tag) }
        var headers = more + [("ETag", tag)]
        var status = 200
        var body = content[...]
        if let start = request.rangeStart, request["if-range"] == tag {
            guard start < content.count else {
                try await responder.answer(
                    416,
                    headers + [("Content-Range", "bytes */\(content.count)")]
                )
                return .keep
            }
            status = 206
            body = content[start...]
            headers.append(
                ("Content-Range", "bytes \(start)-\(content.count - 1)/\(content.count)")
            )
        }
        let sent = body.prefix(cut ?? .max)
        state.withLock { $0.bodyBytes += sent.count }
        if isChunked {
            try await responder.head(status, headers + [("Transfer-Encoding", "chunked")])
            if !sent.isEmpty {
                try await responder.bytes(Array("\(String(sent.count, radix: 16))\r\n".utf8))
                try await responder.bytes(sent)
                try await responder.bytes(Array("\r\n".utf8))
            }
            if cut == nil { try await responder.bytes(Array("0\r\n\r\n".utf8)) }
        } else {
            try await responder.head(status, headers + [("Content-Length", String(body.count))])
            try await responder.bytes(sent)
        }
        return cut == nil ? .keep : .close
    }
}
