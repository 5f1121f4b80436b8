// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient

/// Fetches over HTTP/1.1, with TLS where the URL says so.
///
/// Nothing is started before the first fetch. One is enough for a whole daemon: fetches run side by
/// side and share connections. Call `shutDown()` when it is no longer needed.
package final class HTTPFetcher: Fetching {
    private let clients = ClientPool()
    private let names: NameLookup

    /// How many redirects are followed.
    package static let redirectsMax = 5

    /// Looks names up as the system does.
    package convenience init() {
        self.init(names: .system)
    }

    /// With another way to look names up.
    package init(names: NameLookup) {
        self.names = names
    }

    /// Sends one request, follows its redirects and collects the answer.
    package func fetch(
        _ request: FetchRequest,
        permits: @escaping @Sendable (_ host: String, _ port: UInt16) -> Bool
    ) async throws(FetchFailure) -> FetchResponse {
        let outgoing = try OutgoingRequest(request)
        guard !Task.isCancelled else { throw .cancelled }
        return try await Deadline.limiting(to: request.timeout) {
            do throws(FetchFailure) {
                return .success(try await self.follow(outgoing, of: request, permits: permits))
            } catch {
                return .failure(error)
            }
        }.get()
    }

    /// Ends every fetch and closes every connection.
    ///
    /// Later fetches fail with `shutDown`.
    package func shutDown() async {
        await clients.shutDown()
    }

    private func follow(
        _ first: OutgoingRequest,
        of request: FetchRequest,
        permits: @Sendable (String, UInt16) -> Bool
    ) async throws(FetchFailure) -> FetchResponse {
        try Self.check(first.address, permits)
        var outgoing = first
        if request.sendsDigest {
            do {
                outgoing = outgoing.adding(
                    "Repr-Digest",
                    try await ReprDigest.value(of: first.body)
                )
            } catch {
                throw ClientErrors.failure(error, target: first.address.server)
            }
        }
        for _ in 0...Self.redirectsMax {
            try Self.check(outgoing.address, permits)
            switch try await send(outgoing, bytesMax: max(0, request.bytesMax)) {
            case .answered(let response): return response
            case .redirected(let next): outgoing = next
            }
        }
        throw .tooManyRedirects(limit: Self.redirectsMax)
    }

    private static func check(
        _ address: WebAddress,
        _ permits: @Sendable (String, UInt16) -> Bool
    ) throws(FetchFailure) {
        guard permits(address.host, address.port) else {
            throw .permissionDenied(host: address.host, port: address.port)
        }
    }

    /// Sends one request to the first of its server's addresses that can be connected to.
    private func send(_ outgoing: OutgoingRequest, bytesMax: Int)
        async throws(FetchFailure) -> Exchange.Step
    {
        var pins: [ClientPool.Pin?] = [nil]
        let address = outgoing.address
        if address.literal == nil {
            pins = try await names(address.host).map {
                ClientPool.Pin(host: address.host, address: $0.text)
            }
        }
        let exchange = Exchange(request: outgoing, bytesMax: bytesMax)
        var failure = FetchFailure.unresolved(host: address.host, reason: "it has no address")
        for pin in pins {
            let client = try clients.borrow(pin)
            defer { clients.giveBack(pin) }
            do {
                return try await exchange.run(on: client)
            } catch {
                failure = ClientErrors.failure(error, target: address.server)
                // A client that is shut down says that it cancelled what it was doing.
                if failure == .cancelled, clients.isShutDown { throw .shutDown }
                guard ClientErrors.precedesRequest(error) else { throw failure }
            }
        }
        throw failure
    }
}
