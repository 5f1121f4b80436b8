// SPDX-License-Identifier: Apache-2.0

/// One request on its way to one server: a checked `FetchRequest`, or what a redirect made of it.
struct OutgoingRequest: Sendable {
    let address: WebAddress
    let method: String
    let headers: [(String, String)]
    let body: FetchBody

    init(_ request: FetchRequest) throws(FetchFailure) {
        address = try WebAddress(request.url)
        method = try RequestHeaders.method(request.method)
        try RequestHeaders.check(request.headers, sendsDigest: request.sendsDigest)
        let hasAgent = request.headers.contains { $0.0.lowercased() == "user-agent" }
        headers = request.headers + (hasAgent ? [] : [("User-Agent", "bghost/1.0")])
        body = request.body
    }

    private init(
        address: WebAddress,
        method: String,
        headers: [(String, String)],
        body: FetchBody
    ) {
        self.address = address
        self.method = method
        self.headers = headers
        self.body = body
    }

    func adding(_ name: String, _ value: String) -> OutgoingRequest {
        OutgoingRequest(
            address: address,
            method: method,
            headers: headers + [(name, value)],
            body: body
        )
    }

    /// The next request if an answer is a redirect.
    ///
    /// As all clients do, 301 and 302 turn a POST into a GET and leave other methods alone; 303
    /// turns everything but HEAD into a GET; 307 and 308 repeat the request as it was.
    func redirected(status: Int, location: String?) throws(FetchFailure) -> OutgoingRequest? {
        guard [301, 302, 303, 307, 308].contains(status), let location else { return nil }
        let becomesGet =
            status == 303 ? method != "HEAD" : status < 303 && method == "POST"
        let next: WebAddress
        do {
            next = try address.resolving(location)
        } catch .badURL(let reason) {
            throw .badRedirect(from: address.server, reason: reason)
        }
        return OutgoingRequest(
            address: next,
            method: becomesGet ? "GET" : method,
            headers: RequestHeaders.redirected(
                headers,
                sameOrigin: address.hasSameOrigin(as: next),
                keepsBody: !becomesGet
            ),
            body: becomesGet ? .none : body
        )
    }
}
