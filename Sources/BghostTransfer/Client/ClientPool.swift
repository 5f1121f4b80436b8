// SPDX-License-Identifier: Apache-2.0

internal import BghostTransferRules
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTPCompression
internal import Synchronization

/// The HTTP clients in use, one for each combination of name, address and proxy.
///
/// AsyncHTTPClient has no hook for name lookup. Its configuration can set the address for a name;
/// the certificate is still checked against the name. So each checked address has a client of its
/// own, and the pool keeps idle clients because of their open connections. With a proxy, the client
/// asks the proxy for that address.
final class ClientPool: Sendable {
    /// The address and proxy that a client is bound to.
    struct Pin: Hashable, Sendable {
        /// `nil` for a URL that has an address instead of a name.
        var name: Name?
        var proxy: ProxyAddress?

        struct Name: Hashable, Sendable {
            let host: String
            let address: String
        }
    }

    private struct Entry {
        let client: HTTPClient
        var users = 0
        var lastUse: UInt64 = 0
    }

    private struct State {
        var entries: [Pin: Entry] = [:]
        var uses: UInt64 = 0
        var isShutDown = false
    }

    private let state = Mutex(State())
    /// Whether the clients decompress bodies, and keep the received part of a body when the
    /// connection breaks.
    private let unpacks: Bool
    private let connectionsMax: Int
    private let settings: NetworkSettings
    let received = ReceivedBytes()

    /// - Parameters:
    ///   - settings: the trusted certificates and the timeouts.
    ///   - unpacks: whether compressed bodies are decompressed on arrival, and whether the received
    ///     part of a body is kept when the connection breaks.
    ///   - connectionsMax: how many connections to one server are kept open.
    init(settings: NetworkSettings, unpacks: Bool = false, connectionsMax: Int = 8) {
        self.settings = settings
        self.unpacks = unpacks
        self.connectionsMax = connectionsMax
    }

    /// How many times larger than its compressed form a body may be.
    ///
    /// One read from the network can expand to a thousand times its size at once; text rarely
    /// compresses to less than a fiftieth.
    static let unpackedRatioMax = 128

    /// How many clients the pool keeps; it exceeds this only while more are in use.
    private static let entriesMax = 16

    /// Lends the client for an address.
    ///
    /// The caller must call `giveBack` afterwards.
    func borrow(_ pin: Pin) throws(FetchFailure) -> HTTPClient {
        let client: HTTPClient? = state.withLock { state in
            guard !state.isShutDown else { return nil }
            state.uses += 1
            var entry = state.entries[pin] ?? Entry(client: makeClient(pin))
            entry.users += 1
            entry.lastUse = state.uses
            state.entries[pin] = entry
            return entry.client
        }
        guard let client else { throw .shutDown }
        return client
    }

    func giveBack(_ pin: Pin) {
        let surplus: HTTPClient? = state.withLock { state in
            state.entries[pin]?.users -= 1
            guard state.entries.count > Self.entriesMax else { return nil }
            let oldest = state.entries.filter { $0.value.users == 0 }
                .min { $0.value.lastUse < $1.value.lastUse }
            return oldest.flatMap { state.entries.removeValue(forKey: $0.key)?.client }
        }
        surplus?.shutdown { _ in }
    }

    var isShutDown: Bool { state.withLock { $0.isShutDown } }

    /// Ends every exchange and closes every connection.
    ///
    /// Later calls of `borrow` fail.
    func shutDown() async {
        for client in takeAll() {
            // The only failure is that it was shut down already.
            try? await client.shutdown()
        }
    }

    deinit {
        // In debug builds the HTTP client traps if it is released before it is shut down.
        for client in takeAll() { client.shutdown { _ in } }
    }

    private func takeAll() -> [HTTPClient] {
        state.withLock { state in
            state.isShutDown = true
            defer { state.entries = [:] }
            return state.entries.values.map(\.client)
        }
    }

    private func makeClient(_ pin: Pin) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        // bghost follows redirects itself: it must check the permission and look up the name of
        // each target.
        configuration.redirectConfiguration = .disallow
        configuration.decompression =
            unpacks ? .enabled(limit: .ratio(Self.unpackedRatioMax)) : .disabled
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = TimeAmount(settings.connectTimeout)
        // The plugin's own retry policy decides; the client must not retry as well.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsMax
        // Common servers close idle connections after 5 s. A request on a connection that the
        // server is closing would fail, so this closes them earlier.
        configuration.connectionPool.idleTimeout = .seconds(4)
        configuration.http1_1ConnectionDebugInitializer = { [unpacks, received] channel in
            channel.eventLoop.submit {
                try HangUp.add(to: channel, counting: received)
                if unpacks { try TailKeeper.add(to: channel) }
            }
        }
        configuration.tlsConfiguration = settings.tls
        if let name = pin.name { configuration.dnsOverride = [name.host: name.address] }
        if let proxy = pin.proxy {
            configuration.proxy = .server(
                host: proxy.host,
                port: Int(proxy.port),
                authorization: proxy.credentials.map {
                    .basic(credentials: ContentDigest.encode(Array($0.utf8)))
                }
            )
        }
        return HTTPClient(
            eventLoopGroup: HTTPClient.defaultEventLoopGroup,
            configuration: configuration
        )
    }
}
