// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1

/// One request to one server and its answer, within the limits of the fetch.
struct Exchange: Sendable {
    /// What an answer means for the fetch.
    enum Step: Sendable {
        case answered(FetchResponse)
        case redirected(OutgoingRequest)
    }

    let request: OutgoingRequest
    let bytesMax: Int

    /// Names and values of an answer's headers together.
    static let headerBytesMax = 32 << 10

    /// - Throws: `FetchFailure`, `CancellationError`, or what the HTTP client throws.
    func run(on client: HTTPClient) async throws -> Step {
        // The fetch's own deadline cancels this task, so the client needs none.
        let response = try await client.execute(clientRequest, deadline: .distantFuture)
        let status = Int(response.status.code)
        let headers = try checked(response.headers)
        let location = headers.first { $0.0 == "location" }?.1
        if let next = try request.redirected(status: status, location: location) {
            return .redirected(next)
        }
        let body = try await collect(response)
        return .answered(FetchResponse(status: status, headers: headers, body: body))
    }

    private var clientRequest: HTTPClientRequest {
        var result = HTTPClientRequest(url: request.address.url)
        result.method = HTTPMethod(rawValue: request.method)
        result.headers = HTTPHeaders(request.headers)
        switch request.body {
        case .none: break
        case .bytes(let bytes): result.body = .bytes(ByteBuffer(bytes: bytes))
        case .file(let file):
            result.body = .stream(UploadChunks(file: file), length: .known(Int64(file.size)))
        }
        return result
    }

    private func checked(_ headers: HTTPHeaders) throws(FetchFailure) -> [(String, String)] {
        let bytes = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard bytes <= Self.headerBytesMax else {
            throw .headersTooLarge(limit: Self.headerBytesMax)
        }
        return headers.map { ($0.name.lowercased(), $0.value) }
    }

    /// Reads the body.
    ///
    /// To throw is to drop the connection, so no more than one buffer beyond the limit is ever taken
    /// from the network.
    private func collect(_ response: HTTPClientResponse) async throws -> [UInt8] {
        let declared = response.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        // The answer to HEAD declares the length of a body that does not come.
        guard request.method == "HEAD" || declared <= bytesMax else {
            throw FetchFailure.tooLarge(limit: bytesMax)
        }
        var body: [UInt8] = []
        for try await buffer in response.body {
            guard buffer.readableBytes <= bytesMax - body.count else {
                throw FetchFailure.tooLarge(limit: bytesMax)
            }
            body.append(contentsOf: buffer.readableBytesView)
        }
        return body
    }
}
