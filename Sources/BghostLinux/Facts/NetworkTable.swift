// SPDX-License-Identifier: Apache-2.0

package import BghostCore

/// The links, addresses and default routes of the machine, as the kernel lists them.
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
        /// Whether it names the address to send from, which may then be another link's.
        var hasSource: Bool
    }

    private var links: [UInt32: Link] = [:]
    private var addresses: Set<Address> = []
    private var routes: [Route] = []

    package init() {}

    /// How many default routes are kept.
    private static let routesMax = 1024

    private static let ipv4: UInt8 = 2
    private static let mainTable: UInt32 = 254
    /// Of a link: it is switched on, and its other side is there.
    private static let upFlags: UInt32 = 0x1 | 0x1_0000
    /// Of an address: not known to be alone yet, or known not to be.
    private static let unreadyFlags: UInt32 = 0x40 | 0x08
    /// Of a route or a hop: it leads nowhere now.
    private static let deadFlags: UInt32 = 0x1 | 0x10

    // MARK: Reading

    /// Adds all that some messages of a list say.
    package mutating func add(_ bytes: [UInt8]) throws(NetlinkError) {
        for message in try NetlinkBytes(bytes: bytes[...]).messages() { try add(message) }
    }

    /// Adds what one message says; passes over what is of no interest.
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
        // Only what others can answer to: neither the link's own nor the machine's own.
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

    /// The route if it is one to everywhere of the main table.
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

    /// Whether what a message says may change the verdict, so that all is to be listed again.
    ///
    /// Of routes only those to everywhere: a router's own may change all the time. Of links and
    /// addresses all, because the kernel takes the routes away that go with them and does not say so.
    static func matters(_ message: NetlinkMessage) -> Bool {
        guard message.kind == NetlinkMessage.newRoute || message.kind == NetlinkMessage.deletedRoute
        else { return true }
        do {
            return try defaultRoute(message.payload) != nil
        } catch {
            return true
        }
    }

    // MARK: The verdict

    private func isUsable(_ route: Route) -> Bool {
        guard !route.isDead, let link = links[route.link], link.isUp else { return false }
        return route.hasSource
            || addresses.contains(Address(link: route.link, family: route.family))
    }

    private func name(_ route: Route) -> String {
        let family = route.family == Self.ipv4 ? "IPv4" : "IPv6"
        return "\(links[route.link]?.name ?? "link \(route.link)") (\(family))"
    }

    /// Whether there is a way out: a default route over a link that is up and has an address.
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

    /// Whether the way out costs by the byte.
    ///
    /// - Parameter metered: the names of links that do, a `*` at the end standing for any rest; `nil`
    ///   if nobody has said.
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
