// SPDX-License-Identifier: Apache-2.0

package import BghostFacts

/// The machine's links, addresses and default routes, from the kernel's listing.
package struct NetworkTable: Equatable, Sendable {
    private struct Link: Equatable, Sendable {
        var name: String
        var isUp: Bool
    }

    private struct Address: Hashable, Sendable {
        var link: UInt32
        var family: UInt8
    }

    private struct Route: Equatable, Sendable {
        var family: UInt8
        var metric: UInt32
        var link: UInt32
        var isDead: Bool
        /// Whether the route sets the source address, which may belong to another link.
        var hasSource: Bool
    }

    private var links: [UInt32: Link] = [:]
    private var addresses: Set<Address> = []
    private var routes: [Route] = []

    package init() {}

    /// The most default routes that are kept.
    private static let routesMax = 1024

    private static let ipv4: UInt8 = 2
    private static let mainTable: UInt32 = 254
    /// Link flags: switched on (IFF_UP), with its peer present (IFF_LOWER_UP).
    private static let upFlags: UInt32 = 0x1 | 0x1_0000
    /// Address flags: not yet checked for duplicates, or found to be one.
    private static let unreadyFlags: UInt32 = 0x40 | 0x08
    /// Flags of a route or hop that leads nowhere now.
    private static let deadFlags: UInt32 = 0x1 | 0x10

    // MARK: Parsing

    /// Adds all entries of some listing messages.
    package mutating func add(_ bytes: [UInt8]) throws(NetlinkError) {
        for message in try NetlinkBytes(bytes: bytes[...]).messages() { try add(message) }
    }

    /// Adds the entry of one message; ignores other kinds.
    mutating func add(_ message: NetlinkMessage) throws(NetlinkError) {
        switch message.kind {
        case NetlinkMessage.newLink: try addLink(message.payload)
        case NetlinkMessage.newAddress: try addAddress(message.payload)
        case NetlinkMessage.newRoute: try addRoute(message.payload)
        default: break
        }
    }

    private mutating func addLink(_ payload: NetlinkBytes) throws(NetlinkError) {
        let index = try payload.u32(4)
        let flags = try payload.u32(8)
        var name = "link \(index)"
        for (kind, value) in try payload.from(16).attributes() where kind == 3 { name = value.text }
        links[index] = Link(name: name, isUp: flags & Self.upFlags == Self.upFlags)
    }

    private mutating func addAddress(_ payload: NetlinkBytes) throws(NetlinkError) {
        var flags = UInt32(try payload.u8(2))
        let scope = try payload.u8(3)
        let address = Address(link: try payload.u32(4), family: try payload.u8(0))
        for (kind, value) in try payload.from(8).attributes() where kind == 8 {
            flags = try value.u32(0)
        }
        // Keep only addresses that other machines can reply to: not link-local, not host-only.
        let linkScope: UInt8 = 253
        guard scope < linkScope, flags & Self.unreadyFlags == 0 else { return }
        addresses.insert(address)
    }

    private mutating func addRoute(_ payload: NetlinkBytes) throws(NetlinkError) {
        guard let route = try Self.defaultRoute(payload) else { return }
        for hop in route.hops where routes.count < Self.routesMax {
            routes.append(
                Route(
                    family: route.family,
                    metric: route.metric,
                    link: hop.link,
                    isDead: (route.flags | UInt32(hop.flags)) & Self.deadFlags != 0,
                    hasSource: route.hasSource
                )
            )
        }
    }

    private struct DefaultRoute {
        var family: UInt8
        var flags: UInt32
        var metric: UInt32 = 0
        var hasSource = false
        var hops: [(flags: UInt8, link: UInt32)] = []
    }

    /// The route, if it is a default route of the main table.
    private static func defaultRoute(_ payload: NetlinkBytes) throws(NetlinkError) -> DefaultRoute?
    {
        var table = UInt32(try payload.u8(4))
        let unicast: UInt8 = 1
        var route = DefaultRoute(family: try payload.u8(0), flags: try payload.u32(8))
        guard try payload.u8(1) == 0, try payload.u8(2) == 0, try payload.u8(7) == unicast else {
            return nil
        }
        for (kind, value) in try payload.from(12).attributes() {
            switch kind {
            case 4: route.hops.append((0, try value.u32(0)))
            case 6: route.metric = try value.u32(0)
            case 7: route.hasSource = true
            case 9: route.hops += try value.hops()
            case 15: table = try value.u32(0)
            default: break
            }
        }
        return table == mainTable ? route : nil
    }

    /// Whether a message may change the result, so that the tables must be listed again.
    ///
    /// Of routes only default ones matter: a router's other routes may change all the time. Every
    /// link and address matters, since the kernel removes their routes without reporting it.
    static func matters(_ message: NetlinkMessage) -> Bool {
        guard message.kind == NetlinkMessage.newRoute || message.kind == NetlinkMessage.deletedRoute
        else { return true }
        do {
            return try defaultRoute(message.payload) != nil
        } catch {
            return true
        }
    }

    // MARK: Result

    private func isUsable(_ route: Route) -> Bool {
        guard !route.isDead, let link = links[route.link], link.isUp else { return false }
        return route.hasSource
            || addresses.contains(Address(link: route.link, family: route.family))
    }

    private func name(_ route: Route) -> String {
        let family = route.family == Self.ipv4 ? "IPv4" : "IPv6"
        return "\(links[route.link]?.name ?? "link \(route.link)") (\(family))"
    }

    /// Whether there is a usable default route: its link is up and has an address.
    package func network(source: String) -> FactReading {
        let ordered = routes.sorted { $0.metric < $1.metric }
        func reading(_ isThere: Bool, _ text: String) -> FactReading {
            FactReading(.network, .state(isThere), text: text, source: source)
        }
        if let route = ordered.first(where: isUsable) {
            return reading(true, "default route over \(name(route))")
        }
        guard let route = ordered.first else { return reading(false, "no default route") }
        let isUp = !route.isDead && links[route.link]?.isUp ?? false
        let fault = isUp ? "has no address yet" : "is down"
        return reading(false, "default route over \(name(route)), which \(fault)")
    }

    /// Whether the default route's link is metered.
    ///
    /// - Parameter metered: the names of metered links, where a `*` at the end matches any rest;
    ///   `nil` if the operator has not set them.
    package func unmetered(_ metered: [String]?, source: String) -> FactReading {
        func reading(_ measure: FactMeasure, _ text: String) -> FactReading {
            FactReading(.unmetered, measure, text: text, source: source)
        }
        guard let metered else {
            return reading(.unknown, "the manifest does not say which links are metered")
        }
        guard let route = routes.sorted(by: { $0.metric < $1.metric }).first(where: isUsable),
            let name = links[route.link]?.name
        else { return reading(.unknown, "no default route") }
        let isMetered = metered.contains { pattern in
            pattern.hasSuffix("*") ? name.hasPrefix(pattern.dropLast()) : name == pattern
        }
        return reading(.state(!isMetered), "\(name) is \(isMetered ? "" : "not ")metered")
    }
}
