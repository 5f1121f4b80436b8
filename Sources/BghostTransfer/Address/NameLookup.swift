// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOPosix

/// Turns a host's name into the addresses that a connection may be made to.
///
/// The addresses that were checked are those that are connected to: each is handed to the HTTP
/// client in place of the name (see `ClientPool`), which therefore looks nothing up. A name server
/// that answers differently the second time (DNS rebinding) is never asked a second time within one
/// exchange. Not covered: public addresses that a router of the operator leads inside.
package struct NameLookup: Sendable {
    /// All addresses of a name, in order of preference; blocks its thread.
    package var addresses: @Sendable (String) -> Result<[[UInt8]], NameFailure>
    /// Whether an address must not be reached by name.
    package var isLocal: @Sendable ([UInt8]) -> Bool

    package init(
        addresses: @escaping @Sendable (String) -> Result<[[UInt8]], NameFailure>,
        isLocal: @escaping @Sendable ([UInt8]) -> Bool
    ) {
        self.addresses = addresses
        self.isLocal = isLocal
    }

    /// The system's own.
    package static let system = NameLookup(
        addresses: systemAddresses,
        isLocal: { IPAddress(bytes: $0).isLocal }
    )

    func callAsFunction(_ host: String) async throws(FetchFailure) -> [IPAddress] {
        // By RFC 6761 it means this machine whatever name servers say, so it needs no lookup.
        guard host != "localhost" else {
            return [IPAddress(v4: "127.0.0.1"), IPAddress(v6: "::1")].compactMap(\.self)
        }
        let found: [IPAddress]
        switch await answer(host) {
        case .success(let addresses): found = addresses.map(IPAddress.init(bytes:))
        case .failure(let failure): throw .unresolved(host: host, reason: failure.reason)
        case nil: throw .cancelled
        }
        // One local address spoils all: which one is used must not depend on which one answers.
        if let local = found.first(where: { isLocal($0.bytes) }) {
            throw .localAddress(host: host, address: local.text)
        }
        guard !found.isEmpty else { throw .unresolved(host: host, reason: "it has no address") }
        return found
    }

    /// What the lookup says; `nil` if the task was cancelled.
    ///
    /// In that case it goes on in its thread until the resolver's
    /// own timeout, since nothing can interrupt it, and its answer is dropped.
    private func answer(_ host: String) async -> Result<[[UInt8]], NameFailure>? {
        let (answers, continuation) = AsyncStream.makeStream(
            of: Result<[[UInt8]], NameFailure>.self
        )
        let lookup = Task { [addresses] in
            defer { continuation.finish() }
            continuation.yield(try await Self.threads.runIfActive { addresses(host) })
        }
        // Takes it out of the queue if it has not begun.
        defer { lookup.cancel() }
        for await answer in answers { return answer }
        return nil
    }

    /// Where lookups block, made by the first of them.
    ///
    /// Threads of their own, so that slow name servers stall no other work, and few, so that a plugin
    /// with many fetches cannot fill the process with threads.
    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: 8)
        threads.start()
        return threads
    }()
}

/// Why a name has no addresses.
package struct NameFailure: Error, Sendable {
    package let reason: String

    package init(reason: String) {
        self.reason = reason
    }
}

private func systemAddresses(_ host: String) -> Result<[[UInt8]], NameFailure> {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    // Else a machine without IPv6 would try IPv6 addresses first, in vain.
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
