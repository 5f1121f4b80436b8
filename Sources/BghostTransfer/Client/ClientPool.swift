// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import BghostCore
internal import NIOCore
internal import NIOHTTPCompression
internal import Synchronization

/// The HTTP clients in use, one for each pair of name and address, and each proxy.
///
/// AsyncHTTPClient has no hook for name lookup, and takes the address to use in place of a name from
/// the client's configuration, while the certificate is still checked for the name. So each checked
/// address has a client of its own, kept a while for the sake of its open connections. With a proxy,
/// that address is what the proxy is asked for.
final class ClientPool: Sendable {
    /// What a client is bound to.
    struct Pin: Hashable, Sendable {
        /// `nil` stands for URLs that name an address themselves.
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
    /// Whether the bodies may be long: they are unpacked, and what has come of them is kept when the
    /// connection breaks.
    private let unpacks: Bool
    private let connectionsMax: Int
    private let settings: NetworkSettings

    /// - Parameters:
    ///   - settings: whom its clients trust.
    ///   - unpacks: whether bodies that come packed are unpacked on their way, and whether what has come of
    ///     one is kept when the connection breaks.
    ///   - connectionsMax: how many connections to one server are kept open.
    init(settings: NetworkSettings, unpacks: Bool = false, connectionsMax: Int = 8) {
        self.settings = settings
        self.unpacks = unpacks
        self.connectionsMax = connectionsMax
    }

    /// How much larger than its packed form a body may be.
    ///
    /// One read from the network can bring a thousand times its size, all at once; text rarely
    /// packs to less than a fiftieth.
    static let unpackedRatioMax = 128

    /// How many clients are kept; more only while more are in use.
    private static let entriesMax = 16

    /// Lends the client for an address; `giveBack` must follow.
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
        // A client that goes without being shut down would trap in debug builds.
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
        // Ours: each target has to be permitted and looked up first.
        configuration.redirectConfiguration = .disallow
        configuration.decompression =
            unpacks ? .enabled(limit: .ratio(Self.unpackedRatioMax)) : .disabled
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .seconds(10)
        // The plugin's own retry policy decides, not a loop behind its back.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsMax
        // Shorter than the 5 s after which common servers hang up: a request on a connection that
        // the server is closing would fail.
        configuration.connectionPool.idleTimeout = .seconds(4)
        if unpacks {
            configuration.http1_1ConnectionDebugInitializer = { TailKeeper.add(to: $0) }
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
