// SPDX-License-Identifier: Apache-2.0

internal import BghostTransferRules
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1

/// One request to one server, and the head of its response.
struct Exchange: Sendable {
    let request: OutgoingRequest

    /// Limit of the names and values of a response's headers together, bytes.
    static let headerBytesMax = 32 << 10

    /// Sends the request and returns the response; the caller reads the body.
    func run(on client: HTTPClient) async throws -> (AnswerHead, HTTPClientResponse) {
        // The caller cancels this task when its own timeout passes, so the client needs no
        // deadline.
        let response = try await client.execute(clientRequest, deadline: .distantFuture)
        let head = AnswerHead(
            status: Int(response.status.code),
            headers: try checked(response.headers)
        )
        return (head, response)
    }

    private var clientRequest: HTTPClientRequest {
        var result = HTTPClientRequest(url: request.address.url)
        result.method = HTTPMethod(rawValue: request.method)
        result.headers = HTTPHeaders(request.headers)
        switch request.body {
        case .none: break
        case .bytes(let bytes): result.body = .bytes(ByteBuffer(bytes: bytes))
        case .file(let body):
            result.body = .stream(UploadChunks(body: body), length: .known(Int64(body.length)))
        }
        return result
    }

    private func checked(_ headers: HTTPHeaders) throws(FetchFailure) -> [TransferHeader] {
        let bytes = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard bytes <= Self.headerBytesMax else {
            throw .headersTooLarge(limit: Self.headerBytesMax)
        }
        return headers.map { TransferHeader($0.name.lowercased(), $0.value) }
    }
}
