// SPDX-License-Identifier: Apache-2.0

package import BghostFacts

/// The section `host.facts`: facts about the machine that the daemon cannot detect.
package struct FactDefinitions: Equatable, Sendable {
    /// The server that reports the state of the UPS; `nil` if there is none.
    package var ups: UPSAddress?
    /// The names of metered links; `nil` if the manifest does not list any.
    package var meteredLinks: [String]?
    /// The operator's probes, in the order of their requirement bits.
    package var probes: [ProbeDefinition]

    package init(
        ups: UPSAddress? = nil,
        meteredLinks: [String]? = nil,
        probes: [ProbeDefinition] = []
    ) {
        self.ups = ups
        self.meteredLinks = meteredLinks
        self.probes = probes
    }
}

/// The address of a Network UPS Tools server, in that project's notation: `ups@host:port`.
package struct UPSAddress: Equatable, Sendable {
    /// The supply that feeds this machine; `nil` means all supplies of the server.
    package var supply: String?
    /// A name or an address, without brackets.
    package var host: String
    /// `nil` is the default port.
    package var port: UInt16?

    init(supply: String? = nil, host: String, port: UInt16? = nil) {
        self.supply = supply
        self.host = host
        self.port = port
    }

    /// Parses `supply@host:port`, where the supply and the port are optional; `nil` for any other
    /// text.
    package init?(_ text: String) {
        var rest = text[...]
        if let at = rest.firstIndex(of: "@") {
            let supply = rest[..<at]
            guard Self.isName(supply) else { return nil }
            self.supply = String(supply)
            rest = rest[rest.index(after: at)...]
        }
        if rest.hasPrefix("[") {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            guard !host.isEmpty, host.utf8.allSatisfy(Self.isOfAddress) else { return nil }
            rest = rest[rest.index(after: end)...]
        } else {
            let end = rest.firstIndex(of: ":") ?? rest.endIndex
            guard Self.isName(rest[..<end]) else { return nil }
            host = String(rest[..<end])
            rest = rest[end...]
        }
        guard !rest.isEmpty else { return }
        guard rest.hasPrefix(":"), let number = UInt16(rest.dropFirst()), number > 0 else {
            return nil
        }
        port = number
    }

    /// Whether a text is a valid name of a supply or a host.
    private static func isName(_ text: Substring) -> Bool {
        (1...253).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    private static func isOfAddress(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: ":"):
            true
        default: false
        }
    }
}
