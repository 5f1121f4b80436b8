// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import Hummingbird
internal import NIOCore

extension Request {
    /// The whole body of a request.
    ///
    /// One that is announced as longer is not awaited: a client may wait for `100 Continue` before it sends it.
    func wholeBody(bytesMax: Int) async throws -> ByteBuffer {
        let declared = headers[.contentLength].flatMap(Int.init) ?? 0
        guard declared <= bytesMax else { throw ControlFault.bodyTooLarge }
        return try await body.collect(upTo: bytesMax)
    }
}
