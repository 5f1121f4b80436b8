// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// The table of connection slots: limits the connections in total and per server, in the order of requests.
///
/// A busy server delays only the transfers that need this server.
package struct SlotTable: Equatable, Sendable {
    private struct Want: Equatable, Sendable {
        let id: RunID
        let order: UInt64
    }

    private struct Server: Equatable, Sendable {
        var held = 0
        /// In order, from `head` on; some are no longer in `wanted`.
        var wants: [Want] = []
        var head = 0
        /// How many of them, at most, are no longer in `wanted`.
        var withdrawn = 0

        var isIdle: Bool { held == 0 && head == wants.count }

        /// Records that a want was withdrawn.
        ///
        /// `firstRequest` skips it later. While the server is busy nothing does, so most of the wants must not be
        /// withdrawn ones: they would use memory. Rarely, so that each want is moved a constant number of times.
        mutating func noteWithdrawal(_ wanted: [RunID: Wanted]) {
            withdrawn += 1
            guard withdrawn > 64, withdrawn > wants.count / 2 else { return }
            wants = wants[head...].filter { wanted[$0.id]?.order == $0.order }
            head = 0
            withdrawn = 0
        }

        /// Assigns a slot to the first want.
        mutating func take() -> Want {
            let want = wants[head]
            head += 1
            held += 1
            // Compact rarely, so that each want is moved a constant number of times.
            if head > 64, head > wants.count / 2 {
                wants.removeFirst(head)
                head = 0
            }
            return want
        }
    }

    private let totalMax: Int
    private let perServerMax: Int
    private var servers: [String: Server] = [:]
    /// A request for a slot that waits.
    private struct Wanted: Equatable, Sendable {
        let order: UInt64
        let server: String
    }

    /// The waiting transfers.
    private var wanted: [RunID: Wanted] = [:]
    private var held: [RunID: String] = [:]
    private var sequence: UInt64 = 0

    /// - Parameters:
    ///   - totalMax: connections in all, 1 or more.
    ///   - perServerMax: connections to one server, 1 or more.
    package init(totalMax: Int, perServerMax: Int) {
        self.totalMax = max(1, totalMax)
        self.perServerMax = max(1, perServerMax)
    }

    /// The number of slots in use.
    var heldCount: Int { held.count }

    /// The number of entries, also of withdrawn requests: the memory of the table.
    var size: Int { servers.values.reduce(0) { $0 + $1.wants.count } }

    /// Requests a slot for a connection to a server.
    package mutating func request(_ id: RunID, server: String) {
        guard held[id] == nil, wanted[id] == nil else { return }
        sequence += 1
        wanted[id] = Wanted(order: sequence, server: server)
        servers[server, default: Server()].wants.append(Want(id: id, order: sequence))
    }

    /// Withdraws a request for a slot.
    ///
    /// O(1) on average.
    package mutating func withdraw(_ id: RunID) {
        guard let want = wanted.removeValue(forKey: id),
            let index = servers.index(forKey: want.server)
        else { return }
        servers.values[index].noteWithdrawal(wanted)
        if servers.values[index].isIdle { servers.remove(at: index) }
    }

    /// Releases a slot.
    package mutating func free(_ id: RunID) {
        guard let server = held.removeValue(forKey: id) else { return }
        release(server)
    }

    /// Moves a slot to another server, if that server has a free one.
    ///
    /// - Returns: `false` if it has none; the slot then stays at its server.
    package mutating func move(_ id: RunID, to server: String) -> Bool {
        guard let before = held[id] else { return false }
        guard before != server else { return true }
        guard servers[server]?.held ?? 0 < perServerMax else { return false }
        release(before)
        held[id] = server
        servers[server, default: Server()].held += 1
        return true
    }

    /// Assigns the free slots.
    ///
    /// - Returns: the transfers that have received a slot.
    package mutating func grant() -> [RunID] {
        var granted: [RunID] = []
        while held.count < totalMax, let server = nextServer() {
            guard let index = servers.index(forKey: server) else { break }
            // Change it in place: a copy would include all wants of the server.
            let want = servers.values[index].take()
            wanted[want.id] = nil
            held[want.id] = server
            granted.append(want.id)
        }
        return granted
    }

    /// Among the servers with a free slot, the one with the oldest want.
    private mutating func nextServer() -> String? {
        var best: (server: String, order: UInt64)?
        for name in servers.keys {
            guard let order = firstRequest(name) else { continue }
            if order < best?.order ?? .max { best = (name, order) }
        }
        return best?.server
    }

    private mutating func firstRequest(_ name: String) -> UInt64? {
        guard let entry = servers[name], entry.held < perServerMax else { return nil }
        var head = entry.head
        while head < entry.wants.count {
            let want = entry.wants[head]
            if wanted[want.id]?.order == want.order { break }
            head += 1
        }
        if head != entry.head {
            servers[name]?.head = head
            if servers[name]?.isIdle ?? false { servers[name] = nil }
        }
        return head < entry.wants.count ? entry.wants[head].order : nil
    }

    private mutating func release(_ server: String) {
        guard let index = servers.index(forKey: server) else { return }
        servers.values[index].held -= 1
        if servers.values[index].isIdle { servers.remove(at: index) }
    }
}
