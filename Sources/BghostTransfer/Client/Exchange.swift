// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import BghostCore
internal import NIOCore
internal import NIOHTTP1

/// One request to one server and the head of its answer.
struct Exchange: Sendable {
    let request: OutgoingRequest

    /// Names and values of an answer's headers together.
    static let headerBytesMax = 32 << 10

    /// Sends the request and returns the answer, whose body is still to be read.
    func run(on client: HTTPClient) async throws -> (AnswerHead, HTTPClientResponse) {
        // Whoever waits for it cancels this task when it takes too long, so the client needs no
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
