// SPDX-License-Identifier: Apache-2.0

internal import BghostTransferRules
internal import AsyncHTTPClient

/// Sends requests and follows redirects.
///
/// Before it sends a byte to a target, it checks the permission, looks up the name and checks the
/// addresses.
struct Route: Sendable {
    let clients: ClientPool
    let names: NameLookup
    let proxies: ProxyRules
    var digests = DigestLedger()

    /// How many redirects are followed.
    static let redirectsMax = 5

    /// Sends a request, follows redirects, and hands the final response to a receiver.
    ///
    /// The receiver owns the connection until it returns; the rest of the body is dropped with the
    /// connection.
    ///
    /// - Parameters:
    ///   - permits: whether a host and port may be reached.
    ///   - enter: called before each hop.
    ///   - receive: the receiver; gets the head, the response with its body, and the request that was
    ///     answered.
    /// - Throws: `FetchFailure` for failures of the network, and the errors that `enter` and `receive`
    ///   throw.
    func send<Value>(
        _ first: OutgoingRequest,
        permits: @Sendable (String, UInt16) -> Bool,
        enter: (WebAddress) async throws -> Void = { _ in },
        receive: (AnswerHead, HTTPClientResponse, OutgoingRequest) async throws -> Value
    ) async throws -> Value {
        var outgoing = first
        for _ in 0...Self.redirectsMax {
            let address = outgoing.address
            guard permits(address.host, address.port) else {
                throw FetchFailure.permissionDenied(host: address.host, port: address.port)
            }
            try await enter(address)
            switch try await hop(outgoing, receive: receive) {
            case .answered(let value): return value
            case .redirected(let next): outgoing = next
            }
        }
        throw FetchFailure.tooManyRedirects(limit: Self.redirectsMax)
    }

    private enum Step<Value> {
        case answered(Value)
        case redirected(OutgoingRequest)
    }

    /// Sends one request to the first of the server's addresses that accepts a connection.
    private func hop<Value>(
        _ outgoing: OutgoingRequest,
        receive: (AnswerHead, HTTPClientResponse, OutgoingRequest) async throws -> Value
    ) async throws -> Step<Value> {
        let address = outgoing.address
        let proxy = try proxies.proxy(for: address)
        var pins = [ClientPool.Pin(proxy: proxy)]
        if address.literal == nil {
            pins = try await names(address.host).map {
                let name = ClientPool.Pin.Name(host: address.host, address: $0.text)
                return ClientPool.Pin(name: name, proxy: proxy)
            }
        }
        var failure = FetchFailure.unresolved(host: address.host, reason: "it has no address")
        for pin in pins {
            let client = try clients.borrow(pin)
            defer { clients.giveBack(pin) }
            do {
                let (head, response) = try await Exchange(request: outgoing).run(on: client)
                let next = try outgoing.redirected(status: head.status, location: head["location"])
                if let next { return .redirected(next) }
                return .answered(try await receive(head, response, outgoing))
            } catch let error as any NotOfTheNetwork {
                throw error
            } catch {
                if let fault = Self.fault(error, server: address.server) { throw fault }
                failure = ClientErrors.failure(error, target: address.server, through: proxy)
                // A client that is shut down reports its exchanges as cancelled.
                if failure == .cancelled, clients.isShutDown { throw FetchFailure.shutDown }
                guard ClientErrors.precedesRequest(error) else { throw failure }
            }
        }
        throw failure
    }

    /// A failure that a transfer must distinguish from a broken connection.
    private static func fault(_ error: any Error, server: String) -> (any Error)? {
        ClientErrors.isUntrusted(error)
            ? UntrustedServer(failure: ClientErrors.failure(error, target: server)) : nil
    }
}

/// An error that a receiver throws itself and that does not concern the connection.
protocol NotOfTheNetwork: Error {}

/// A server that failed to prove its identity.
struct UntrustedServer: Error {
    let failure: FetchFailure
}
