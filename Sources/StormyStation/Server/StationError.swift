// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import HTTPTypes
import Hummingbird

/// An error response in the format of the simulated service.
struct StationError: Error, HTTPResponseError {
    /// The service whose format the body has.
    enum Form {
        case openMeteo
        case ntfy(code: Int)
        case photos
    }

    let status: HTTPResponse.Status
    let form: Form
    let reason: String

    init(_ status: HTTPResponse.Status, _ form: Form, _ reason: String) {
        self.status = status
        self.form = form
        self.reason = reason
    }

    private struct OpenMeteoBody: Encodable {
        var error = true
        var reason: String
    }

    private struct NtfyBody: Encodable {
        var code: Int
        var http: Int
        var error: String
    }

    private struct PhotosBody: Encodable {
        var error: String
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        let body: any Encodable =
            switch form {
            case .openMeteo: OpenMeteoBody(reason: reason)
            case .ntfy(let code): NtfyBody(code: code, http: status.code, error: reason)
            case .photos: PhotosBody(error: reason)
            }
        return try .json(body, status: status)
    }
}

extension Response {
    /// Creates a response with a JSON body in the format of the record.
    static func json(_ body: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let buffer = ByteBuffer(bytes: try RecordCoding.encoder().encode(body))
        return Response(
            status: status,
            headers: [
                .contentType: "application/json; charset=utf-8",
                .contentLength: String(buffer.readableBytes),
            ],
            body: ResponseBody(byteBuffer: buffer)
        )
    }
}
