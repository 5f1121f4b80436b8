// SPDX-License-Identifier: Apache-2.0

/// A request to one server: a checked `FetchRequest`, or the request that follows a redirect.
struct OutgoingRequest: Sendable {
    private(set) var address: WebAddress
    private(set) var method: String
    private(set) var headers: [(String, String)]
    private(set) var body: OutgoingBody
    private var keepsMethod = false

    init(_ request: FetchRequest) throws(FetchFailure) {
        address = try WebAddress(request.url)
        method = try RequestHeaders.method(request.method)
        try RequestHeaders.check(request.headers, sendsDigest: request.sendsDigest)
        headers = Self.signed(Fence.adding(to: request, method: method))
        keepsMethod = request.keepsMethod
        body =
            switch request.body {
            // The fetch opens a file when it may.
            case .none, .path: .none
            case .bytes(let bytes): .bytes(bytes)
            case .file(let file): .file(UploadBody(file: file))
            }
    }

    /// Creates a request of a transfer, whose parts have been checked.
    init(
        to address: WebAddress,
        method: String,
        signing headers: [(String, String)],
        body: OutgoingBody
    ) {
        self.init(address: address, method: method, headers: Self.signed(headers), body: body)
    }

    private static func signed(_ headers: [(String, String)]) -> [(String, String)] {
        let hasAgent = headers.contains { $0.0.lowercased() == "user-agent" }
        return headers + (hasAgent ? [] : [("User-Agent", "bghost/1.0")])
    }

    private init(
        address: WebAddress,
        method: String,
        headers: [(String, String)],
        body: OutgoingBody
    ) {
        self.address = address
        self.method = method
        self.headers = headers
        self.body = body
    }

    func carrying(_ body: UploadBody) -> OutgoingRequest {
        var request = self
        request.body = .file(body)
        return request
    }

    func adding(_ name: String, _ value: String) -> OutgoingRequest {
        var request = self
        request.headers.append((name, value))
        return request
    }

    /// The next request if the response is a redirect, otherwise `nil`.
    ///
    /// As in all clients, 301 and 302 turn a POST into a GET and keep other methods; 303 turns
    /// every method but HEAD into a GET; 307 and 308 repeat the request unchanged.
    func redirected(status: Int, location: String?) throws(FetchFailure) -> OutgoingRequest? {
        guard [301, 302, 303, 307, 308].contains(status), let location else { return nil }
        let becomesGet =
            status == 303 ? method != "HEAD" : status < 303 && method == "POST"
        guard !keepsMethod || !becomesGet || method == "GET" else {
            throw .badRedirect(
                from: address.server,
                reason:
                    "with status \(status) the \(method) would become a GET without its body; use the"
                    + " address that it leads to"
            )
        }
        let next: WebAddress
        do {
            next = try address.resolving(location)
        } catch .badURL(let reason) {
            throw .badRedirect(from: address.server, reason: reason)
        }
        var request = self
        request.address = next
        request.headers = RequestHeaders.redirected(
            headers,
            sameOrigin: address.hasSameOrigin(as: next),
            keepsBody: !becomesGet
        )
        if becomesGet { (request.method, request.body) = ("GET", .none) }
        return request
    }
}

/// The body of a request.
enum OutgoingBody: Sendable {
    case none
    case bytes([UInt8])
    case file(UploadBody)
}
