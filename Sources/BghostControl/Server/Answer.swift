// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostModel
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

extension HTTPField.Name {
    /// The header with the version of the sender.
    static let bghostVersion = HTTPField.Name("Bghost-Version") ?? .server
}

/// Creates responses.
enum Answer {
    /// A JSON object with its schema.
    static func json<Body>(
        _ schema: AnswerSchema<Body>,
        status: HTTPResponse.Status = .ok,
        _ body: Body
    ) -> Response {
        json(status: status, bytes(schema, body))
    }

    /// The bytes of a JSON object with its schema.
    static func bytes<Body>(_ schema: AnswerSchema<Body>, _ body: Body) -> ByteBuffer {
        // The line break makes the output of curl readable.
        ByteBuffer(bytes: APICoder.json(schema, body) + [UInt8(ascii: "\n")])
    }

    /// An answer of the bytes of a JSON object.
    static func json(status: HTTPResponse.Status = .ok, _ bytes: ByteBuffer) -> Response {
        Response(
            status: status,
            headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: bytes)
        )
    }

    static func fault(_ fault: ControlFault) -> Response {
        let status = HTTPResponse.Status(code: fault.code.httpStatus)
        return json(Schema.error, status: status, API.Failure(fault))
    }
}

/// Adds the version to each response, refuses clients of another series, and converts all errors to faults.
struct Envelope: RouterMiddleware {
    typealias Context = ControlContext

    let audit: VerbAudit
    let way: AuditWay
    /// Checks where the request comes from.
    let checkOrigin: @Sendable (Request) throws(ControlFault) -> Void

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do throws(any Error) {
            do throws(ControlFault) {
                try checkOrigin(request)
                try Self.checkVersion(request.headers[.bghostVersion])
            } catch {
                if Verbs.isVerb(request) {
                    await audit.refused(request, context.caller, way, error.code)
                }
                throw error
            }
            response = try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            let path = TerminalText.escaped(String(request.uri.path.prefix(200)))
            response = Answer.fault(
                ControlFault(.noSuchRoute, "there is no \(request.method.rawValue) \(path)")
            )
        } catch {
            guard let fault = Self.fault(of: error) else { throw error }
            response = Answer.fault(fault)
        }
        response.headers[.bghostVersion] = BghostVersion.text
        return response
    }

    /// What a client is told of an error; `nil` of one that is a bug.
    static func fault(of error: any Error) -> ControlFault? {
        switch error {
        case let fault as ControlFault: fault
        case is NIOTooManyBytesError: .bodyTooLarge
        case let error as HTTPError: .badRequest(error.body ?? "the request is malformed")
        case is CancellationError: ControlFault(.stopping, "the daemon is stopping")
        default: nil
        }
    }

    /// Clients without a version, such as curl, are accepted.
    private static func checkVersion(_ client: String?) throws(ControlFault) {
        guard let client,
            BghostVersion.series(of: client) != BghostVersion.series(of: BghostVersion.text)
        else { return }
        throw ControlFault(
            .versionSkew,
            "this daemon is bghost \(BghostVersion.text), the client "
                + TerminalText.escaped(String(client.prefix(40))),
            fix: "restart the daemon after an upgrade, or use the program of its version"
        )
    }
}
