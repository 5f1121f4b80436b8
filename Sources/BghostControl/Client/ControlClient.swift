// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import AsyncHTTPClient
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// A client of the daemon's control socket.
///
/// Answers are typed. Each contains the JSON that it was read from, so that JSON output is exactly the
/// daemon's response.
package struct ControlClient: Sendable {
    /// A value, and the JSON that it was read from.
    package struct Answer<Value: Sendable>: Sendable {
        package var value: Value
        package var json: String
    }

    let socketPath: String
    /// Called with the daemon's version if it differs from this program's.
    var onOtherVersion: @Sendable (String) -> Void = { _ in }
    private let http: HTTPClient

    /// The time limit of a short call.
    static let callTime = TimeAmount.seconds(30)
    /// The most bytes of a response.
    ///
    /// The longest response contains 10,000 log entries.
    static let answerBytesMax = 64 << 20

    /// Opens a client for the duration of the closure.
    package static func with<Result: Sendable>(
        socketPath: String,
        onOtherVersion: @escaping @Sendable (String) -> Void = { _ in },
        _ body: (ControlClient) async throws -> Result
    ) async throws -> Result {
        var configuration = HTTPClient.Configuration()
        // Without a daemon, another attempt a moment later would fail too.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.redirectConfiguration = .disallow
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        var client = ControlClient(socketPath: socketPath, http: http)
        client.onOtherVersion = onOtherVersion
        do {
            let result = try await body(client)
            try await http.shutdown()
            return result
        } catch {
            // Report the first error, not that of the shutdown.
            try? await http.shutdown()
            throw error
        }
    }

    private init(socketPath: String, http: HTTPClient) {
        self.socketPath = socketPath
        self.http = http
    }

    // MARK: - Calls

    /// Sends a request and reads its response; throws the fault that the daemon reports.
    ///
    /// - Parameter other: a status above 299 with which the answer comes too.
    func call<Body, Value: Sendable>(
        _ method: HTTPMethod,
        _ path: ControlPath,
        body: [UInt8]? = nil,
        within time: TimeAmount = callTime,
        accepting other: UInt? = nil,
        _ schema: AnswerSchema<Body>,
        value: (Body) -> Value
    ) async throws -> Answer<Value> {
        let response = try await send(method, path, body: body, within: time)
        let buffer: ByteBuffer
        do {
            buffer = try await response.body.collect(upTo: Self.answerBytesMax)
        } catch {
            throw fault(of: error)
        }
        let version = response.headers.first(name: Self.versionField)
        let bytes = Array(buffer.readableBytesView)
        // A response that is not JSON is reported below as unreadable.
        let json = try? APICoder.parsed(bytes)
        if let json, let fault = ControlFault(answer: bytes, parsed: json) { throw fault }
        guard response.status.code < 300 || response.status.code == other, let json else {
            throw unreadable(version)
        }
        // So is another answer than that of the schema.
        guard let answer = try? APICoder.value(Body.self, from: bytes, parsed: json) else {
            throw unreadable(version)
        }
        return Answer(value: value(answer), json: json.text)
    }

    /// Sends a request and reads its response, whose body is the value.
    func call<Body>(
        _ method: HTTPMethod,
        _ path: ControlPath,
        body: [UInt8]? = nil,
        within time: TimeAmount = callTime,
        _ schema: AnswerSchema<Body>
    ) async throws -> Answer<Body> {
        try await call(method, path, body: body, within: time, schema) { $0 }
    }

    /// Sends a request; returns after the head of the response, before its body.
    func send(
        _ method: HTTPMethod,
        _ path: ControlPath,
        body: [UInt8]? = nil,
        within time: TimeAmount
    ) async throws -> HTTPClientResponse {
        if let body, body.count > ControlLimits.bodyBytesMax { throw ControlFault.bodyTooLarge }
        guard socketPath.utf8.count <= UnixAddress.pathBytesMax else {
            throw ControlFault(
                .socketPath,
                "the path of the control socket is longer than \(UnixAddress.pathBytesMax) bytes: "
                    + TerminalText.escaped(socketPath)
            )
        }
        var request = HTTPClientRequest(
            url: "http+unix://" + PercentText.encoded(socketPath) + path.text
        )
        request.method = method
        request.headers.add(name: Self.versionField, value: BghostVersion.text)
        // The daemon refuses other hosts, and content types that a web page could send.
        request.headers.add(name: "Host", value: "localhost")
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(body)
        }
        do {
            let response = try await http.execute(request, deadline: .now() + time)
            if let version = response.headers.first(name: Self.versionField),
                version != BghostVersion.text
            {
                onOtherVersion(version)
            }
            return response
        } catch {
            throw fault(of: error)
        }
    }

    static let versionField = "Bghost-Version"

    // MARK: - Faults

    /// Converts a connection error to a fault for people.
    ///
    /// A cancellation is not converted.
    func fault(of error: any Error) -> any Error {
        let path = TerminalText.escaped(socketPath)
        if error is CancellationError || error as? HTTPClientError == .cancelled {
            return CancellationError()
        }
        let code =
            (error as? IOError)?.errnoCode
            ?? (error as? NIOConnectionError)?.connectionErrors.lazy
            .compactMap { ($0.error as? IOError)?.errnoCode }.first
        switch code {
        case ENOENT, ECONNREFUSED, ENOTDIR, ENOTSOCK:
            return ControlFault(
                .notRunning,
                "bghost is not running (no daemon answers at \(path))",
                fix: "start it with: bghost --config tasks.json"
            )
        case EACCES, EPERM:
            return ControlFault(
                .socketForbidden,
                "you may not use the control socket \(path)",
                fix: "use the account that runs the daemon, for instance with sudo -u"
            )
        case EAGAIN:
            return ControlFault(
                .unavailable,
                "the daemon at \(path) has as many clients as it takes",
                fix: "try again when others have ended"
            )
        case nil where error as? HTTPClientError == .deadlineExceeded:
            return ControlFault(
                .unavailable,
                "the daemon at \(path) did not answer in time",
                fix: "try again; its log may say what holds it up"
            )
        default:
            return ControlFault(
                .connectionLost,
                "the daemon at \(path) ended the connection: \(error)",
                fix: "bghost status tells whether it still runs"
            )
        }
    }

    func unreadable(_ version: String?) -> ControlFault {
        guard let version, version != BghostVersion.text else {
            return ControlFault(
                .unreadableAnswer,
                "what answers at \(TerminalText.escaped(socketPath)) does not speak as a daemon of "
                    + "bghost \(BghostVersion.text) does",
                fix: "check --control"
            )
        }
        return ControlFault(
            .versionSkew,
            "this is bghost \(BghostVersion.text), the daemon is "
                + TerminalText.escaped(String(version.prefix(40))),
            fix: "restart the daemon after an upgrade, or use the program of its version"
        )
    }
}
