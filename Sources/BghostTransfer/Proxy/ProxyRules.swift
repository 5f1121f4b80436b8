// SPDX-License-Identifier: Apache-2.0

/// Which requests go through which proxy.
///
/// A proxy is only asked for tunnels (`CONNECT`), and to addresses that were looked up and checked
/// here, never to names: it would look them up by itself, and lead a name of the public internet to
/// an address inside, where the manifest does not allow it.
struct ProxyRules: Sendable {
    private enum Choice {
        case direct
        case through(ProxyAddress)
        /// One is wanted that cannot be used. To go around it would be to break the operator's word.
        case unusable(variable: String, reason: String)
    }

    private let http: Choice
    private let https: Choice
    private let exceptions: [ProxyException]

    init(environment: (String) -> String?) {
        func first(_ names: [String]) -> (name: String, value: String)? {
            for name in names {
                // An empty one counts: it takes back what a later one says.
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

    /// The proxy on the way to an address; `nil` if there is none.
    func proxy(for address: WebAddress) throws(FetchFailure) -> ProxyAddress? {
        // Nobody means the proxy's own machine by this one's name.
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
    /// Whether it is this machine by what it says, without a lookup.
    fileprivate var isLoopback: Bool {
        guard let bytes = literal?.bytes else { return host == "localhost" }
        return bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }
}

/// A member of `NO_PROXY`: `*`, a name with all below it, an address, or a block of addresses; the
/// first three may have a port.
struct ProxyException: Sendable {
    private enum Place {
        case everything
        case name(String)
        case block(address: [UInt8], bits: Int)
    }

    private let place: Place
    private let port: UInt16?

    /// `nil` if it is none of these.
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
        // An IPv6 address is full of colons, and has brackets where a port follows.
        if let address = Self.address(text) {
            place = .block(address: address.bytes, bits: address.bytes.count * 8)
            port = nil
            return
        }
        let hasDot = text.hasPrefix(".") || text.hasPrefix("*.")
        let name = hasDot ? text.drop { $0 == "*" }.dropFirst() : text
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
