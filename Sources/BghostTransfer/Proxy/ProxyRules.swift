// SPDX-License-Identifier: Apache-2.0

/// Selects the proxy for each request.
///
/// bghost asks a proxy only for tunnels (`CONNECT`), and only to addresses that bghost has looked
/// up and checked, not to names. A proxy would look up a name by itself, and a name of the public
/// internet could then lead to a private address that the manifest does not permit.
struct ProxyRules: Sendable {
    private enum Choice {
        case direct
        case through(ProxyAddress)
        /// The operator set a proxy that cannot be used.
        ///
        /// A direct connection would violate that setting.
        case unusable(variable: String, reason: String)
    }

    private let http: Choice
    private let https: Choice
    private let exceptions: [ProxyException]

    init(environment: (String) -> String?) {
        func first(_ names: [String]) -> (name: String, value: String)? {
            for name in names {
                // An empty variable counts: it overrides the ones after it.
                if let value = environment(name) { return (name, value) }
            }
            return nil
        }
        func choice(_ names: [String]) -> Choice {
            guard let (name, value) = first(names + ["all_proxy", "ALL_PROXY"]), !value.isEmpty
            else { return .direct }
            do throws(ProxyAddress.Unusable) {
                return .through(try ProxyAddress(value))
            } catch {
                return .unusable(variable: name, reason: error.reason)
            }
        }
        http = choice(["http_proxy", "HTTP_PROXY"])
        https = choice(["https_proxy", "HTTPS_PROXY"])
        exceptions = (first(["no_proxy", "NO_PROXY"])?.value ?? "")
            .split { $0 == "," || $0 == " " }
            .compactMap { ProxyException($0) }
    }

    /// The proxy for an address; `nil` if the connection is direct.
    func proxy(for address: WebAddress) throws(FetchFailure) -> ProxyAddress? {
        // A loopback address means this machine, not the proxy's, so it needs a direct connection.
        guard !address.isLoopback, !exceptions.contains(where: { $0.covers(address) }) else {
            return nil
        }
        switch address.scheme == .http ? http : https {
        case .direct: return nil
        case .through(let proxy): return proxy
        case .unusable(let variable, let reason):
            throw .badProxy(variable: variable, reason: reason)
        }
    }
}

extension WebAddress {
    /// Whether the host is this machine by its name or address, without a lookup.
    fileprivate var isLoopback: Bool {
        guard let bytes = literal?.bytes else { return host == "localhost" }
        return bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }
}

/// An entry of `NO_PROXY`: `*`, a name with all its subdomains, an address, or a block of
/// addresses.
///
/// A name or an address may have a port.
struct ProxyException: Sendable {
    private enum Place {
        case everything
        case name(String)
        case block(address: [UInt8], bits: Int)
    }

    private let place: Place
    private let port: UInt16?

    /// Parses an entry; returns `nil` if it is invalid.
    init?(_ text: Substring) {
        if text == "*" {
            place = .everything
            port = nil
            return
        }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 {
            guard let address = Self.address(parts[0]), let bits = Int(parts[1]),
                (0...(address.bytes.count * 8)).contains(bits)
            else { return nil }
            place = .block(address: address.bytes, bits: bits)
            port = nil
            return
        }
        // An IPv6 address without brackets contains colons and no port.
        if let address = Self.address(text) {
            place = .block(address: address.bytes, bits: address.bytes.count * 8)
            port = nil
            return
        }
        let hasDot = text.hasPrefix(".") || text.hasPrefix("*.")
        let name = hasDot ? text.drop { $0 == "*" }.dropFirst() : text
        // An invalid host excepts nothing.
        guard let authority = try? Authority(Array(name.utf8)[...], defaultPort: 0) else {
            return nil
        }
        port = authority.port == 0 ? nil : authority.port
        if let bytes = authority.literal?.bytes {
            place = .block(address: bytes, bits: bytes.count * 8)
        } else {
            place = .name(authority.host)
        }
    }

    func covers(_ address: WebAddress) -> Bool {
        guard port ?? address.port == address.port else { return false }
        switch place {
        case .everything: return true
        case .name(let name): return address.host == name || address.host.hasSuffix("." + name)
        case .block(let block, let bits):
            guard let bytes = address.literal?.bytes, bytes.count == block.count else {
                return false
            }
            return (0..<bits).allSatisfy { bit in
                (bytes[bit / 8] ^ block[bit / 8]) & (0x80 >> (bit % 8)) == 0
            }
        }
    }

    private static func address(_ text: Substring) -> IPAddress? {
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? text.dropFirst().dropLast() : text
        return IPAddress(v4: String(bare)) ?? IPAddress(v6: String(bare))
    }
}
