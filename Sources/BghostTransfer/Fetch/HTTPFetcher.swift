// SPDX-License-Identifier: Apache-2.0

internal import BghostTransferRules
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1

/// Fetches over HTTP/1.1, with TLS for `https` URLs.
///
/// It starts nothing before the first fetch. One fetcher serves a whole daemon: fetches run
/// concurrently and share connections. Call `shutDown()` when it is no longer needed.
package final class HTTPFetcher: Fetching {
    private let route: Route

    /// How many redirects are followed.
    static let redirectsMax = Route.redirectsMax

    /// Creates a fetcher that uses the system's resolver and network settings.
    package convenience init() {
        self.init(names: .system)
    }

    /// Creates a fetcher for addresses that the operator wrote, not a plugin.
    ///
    /// - Parameter reachesLocalNames: whether names may lead to addresses of this machine and its network.
    package convenience init(reachesLocalNames: Bool) {
        var names = NameLookup.system
        if reachesLocalNames { names.isLocal = { _ in false } }
        self.init(names: names)
    }

    /// Creates a fetcher with another resolver or other network settings.
    init(
        names: NameLookup,
        network: NetworkSettings = .system,
        digests: DigestLedger = DigestLedger()
    ) {
        route = Route(
            clients: ClientPool(settings: network),
            names: names,
            proxies: network.proxies,
            digests: digests
        )
    }

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

    /// How many bytes the connections have read from the network, including discarded ones.
    var receivedBytes: UInt64 { route.clients.received.count }

    /// Ends every fetch and closes every connection.
    ///
    /// Later fetches fail with `shutDown`.
    package func shutDown() async {
        await route.clients.shutDown()
    }

    private func follow(
        _ first: OutgoingRequest,
        of request: FetchRequest,
        permits: @Sendable (String, UInt16) -> Bool
    ) async throws(FetchFailure) -> FetchResponse {
        guard permits(first.address.host, first.address.port) else {
            throw .permissionDenied(host: first.address.host, port: first.address.port)
        }
        let bytesMax = max(0, request.bytesMax)
        let admits = request.admits
        do {
            var outgoing = first
            var content = request.body
            if case .path(let path, let readable, let trees) = content {
                content = .file(
                    try await PermittedFile.openOnDisk(path, within: readable, among: trees)
                )
            }
            if case .file(let file) = content {
                outgoing = outgoing.carrying(try body(of: request, file))
            }
            if request.sendsDigest {
                outgoing = outgoing.adding("Repr-Digest", try await ReprDigest.value(of: content))
            }
            return try await route.send(outgoing, permits: permits) { head, response, request in
                let body = try await Self.collect(
                    response,
                    of: request,
                    bytesMax: bytesMax,
                    admits: admits
                )
                let headers = head.headers.map { ($0.name, $0.value) }
                return FetchResponse(status: head.status, headers: headers, body: body)
            }
        } catch let error as UntrustedServer {
            throw error.failure
        } catch {
            throw ClientErrors.failure(error, target: first.address.server)
        }
    }

    /// The body of a file, which may then be hashed if the fetch has to.
    private func body(
        of request: FetchRequest,
        _ file: UploadFile
    ) throws(FetchFailure) -> UploadBody {
        var body = UploadBody(file: file)
        guard request.sendsDigest else { return body }
        let (digests, plugin) = (route.digests, request.plugin)
        guard digests.add(file.size, for: plugin) else { throw .tooManyDigests }
        body.hashed = { digests.subtract($0, for: plugin) }
        return body
    }

    /// Reads the body.
    ///
    /// If it throws, the connection is dropped, so at most one buffer beyond the limit is read from
    /// the network.
    private static func collect(
        _ response: HTTPClientResponse,
        of request: OutgoingRequest,
        bytesMax: Int,
        admits: @Sendable (Int) -> Bool
    ) async throws -> [UInt8] {
        let declared = response.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        // A response to HEAD declares the length of a body that is not sent.
        guard request.method == "HEAD" || declared <= bytesMax else {
            throw FetchFailure.tooLarge(limit: bytesMax)
        }
        var body: [UInt8] = []
        if request.method != "HEAD" { body.reserveCapacity(max(0, declared)) }
        for try await buffer in response.body {
            guard buffer.readableBytes <= bytesMax - body.count else {
                throw FetchFailure.tooLarge(limit: bytesMax)
            }
            guard admits(buffer.readableBytes) else { throw FetchFailure.noRoom }
            body.append(contentsOf: buffer.readableBytesView)
        }
        return body
    }
}
