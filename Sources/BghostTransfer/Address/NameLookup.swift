// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOPosix

/// Resolves a host name to the addresses that a connection may use.
///
/// A connection uses the addresses that were checked: the HTTP client gets each one in place of the
/// name (see `ClientPool`) and therefore looks nothing up. A name server that answers differently
/// the second time (DNS rebinding) is never asked a second time within one exchange. One case is
/// not covered: a public address that the operator's router leads into the private network.
package struct NameLookup: Sendable {
    /// Returns all addresses of a name, in order of preference.
    ///
    /// It blocks its thread.
    var addresses: @Sendable (String) -> Result<[[UInt8]], NameFailure>
    /// Whether a name must not lead to this address.
    var isLocal: @Sendable ([UInt8]) -> Bool

    init(
        addresses: @escaping @Sendable (String) -> Result<[[UInt8]], NameFailure>,
        isLocal: @escaping @Sendable ([UInt8]) -> Bool
    ) {
        self.addresses = addresses
        self.isLocal = isLocal
    }

    /// The resolver of this system.
    static let system = NameLookup(
        addresses: systemAddresses,
        isLocal: { IPAddress(bytes: $0).isLocal }
    )

    func callAsFunction(_ host: String) async throws(FetchFailure) -> [IPAddress] {
        // RFC 6761: `localhost` means this machine, whatever name servers answer, so it needs no
        // lookup.
        guard host != "localhost" else {
            return [IPAddress(v4: "127.0.0.1"), IPAddress(v6: "::1")].compactMap(\.self)
        }
        let found: [IPAddress]
        switch await answer(host) {
        case .success(let addresses): found = addresses.map(IPAddress.init(bytes:))
        case .failure(let failure): throw .unresolved(host: host, reason: failure.reason)
        case nil: throw .cancelled
        }
        // One local address makes the whole answer invalid: the outcome must not depend on which of
        // the addresses accepts the connection.
        if let local = found.first(where: { isLocal($0.bytes) }) {
            throw .localAddress(host: host, address: local.text)
        }
        guard !found.isEmpty else { throw .unresolved(host: host, reason: "it has no address") }
        return found
    }

    /// The result of the lookup; `nil` if the task was cancelled.
    ///
    /// A cancelled lookup continues in its thread until the resolver's own timeout, since nothing
    /// can interrupt `getaddrinfo`. Its result is dropped.
    private func answer(_ host: String) async -> Result<[[UInt8]], NameFailure>? {
        let (answers, continuation) = AsyncStream.makeStream(
            of: Result<[[UInt8]], NameFailure>.self
        )
        let lookup = Task { [addresses] in
            defer { continuation.finish() }
            continuation.yield(try await Self.threads.runIfActive { addresses(host) })
        }
        // Removes the lookup from the queue if it has not started.
        defer { lookup.cancel() }
        for await answer in answers { return answer }
        return nil
    }

    /// The threads in which lookups block.
    ///
    /// The first lookup creates them.
    ///
    /// They are separate from other threads, so that slow name servers stall no other work. There
    /// are only 8, so that a plugin with many fetches cannot fill the process with threads.
    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: 8)
        threads.start()
        return threads
    }()
}

/// Why a name has no addresses.
struct NameFailure: Error, Sendable {
    let reason: String

    init(reason: String) {
        self.reason = reason
    }
}

private func systemAddresses(_ host: String) -> Result<[[UInt8]], NameFailure> {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    // Otherwise a machine without IPv6 would try IPv6 addresses first, and fail.
    hints.ai_flags = AI_ADDRCONFIG
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, nil, &hints, &list)
    guard code == 0 else {
        return .failure(NameFailure(reason: String(cString: gai_strerror(code))))
    }
    defer { freeaddrinfo(list) }
    var addresses: [[UInt8]] = []
    var next = list
    while let entry = next?.pointee {
        next = entry.ai_next
        guard let address = entry.ai_addr else { continue }
        switch entry.ai_family {
        case AF_INET:
            address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                addresses.append(withUnsafeBytes(of: $0.pointee.sin_addr) { Array($0) })
            }
        case AF_INET6:
            address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                addresses.append(withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) })
            }
        default:
            continue
        }
    }
    return .success(addresses)
}
