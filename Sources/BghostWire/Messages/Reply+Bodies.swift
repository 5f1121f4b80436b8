// SPDX-License-Identifier: Apache-2.0

extension Reply {
    /// Removes a body that is too long for one frame, and counts it if it was not counted before.
    ///
    /// - Parameter reserve: counts bytes, and returns `false` if they are too many.
    /// - Returns: the body, or an empty one if it stays in the frame; `nil` if the memory limit is
    ///   reached.
    package mutating func takeLongBody(reserving reserve: (Int) -> Bool) -> [UInt8]? {
        switch body {
        case .fetched(let status, let headers, let message, .inline(let bytes))
        where bytes.count > Self.inlineBodyBytesMax:
            // The body was counted when it was received.
            let parts = FetchedBody.parts(bytes: UInt64(bytes.count))
            body = .fetched(httpStatus: status, headers: headers, message: message, body: parts)
            return bytes
        case .transfers(.inline(let bytes)) where bytes.count > Self.inlineBodyBytesMax:
            guard reserve(bytes.count) else { return nil }
            body = .transfers(.parts(bytes: UInt64(bytes.count)))
            return bytes
        case .checkpoint(.inline(let bytes)) where bytes.count > Self.inlineBodyBytesMax:
            guard reserve(bytes.count) else { return nil }
            body = .checkpoint(.parts(bytes: UInt64(bytes.count)))
            return bytes
        default: return []
        }
    }

    /// The reply that is sent instead if the body exceeds the memory limit.
    ///
    /// - Parameter status: a `BG_*` status.
    package func refusal(_ status: Int32) -> Reply {
        guard case .fetched = body else { return Reply(call: call, status: status) }
        return Reply(
            call: call,
            status: status,
            body: .fetched(
                httpStatus: 0,
                headers: "",
                message: "bghost has no room for the answer now; try again",
                body: .inline([])
            )
        )
    }
}
