// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import Synchronization

/// The connections to the dashboard's port, of which one makes room for the next when all are in use.
///
/// Every user of the machine can connect to the port, and can keep connections without sending anything. The
/// kernel does not tell the user at the other end, so only a request with a session gives a connection its
/// place. Safe on any thread; each call costs O(connections).
final class DashboardConnections: Sendable {
    private enum Standing: Equatable {
        /// It has sent no whole request since its last answer.
        case waiting
        /// The server answers a request without a session, such as a probe, or one of a member beyond the
        /// part of all members.
        case answering
        /// The server answers a request of a session, so the connection never makes room.
        case kept(isMember: Bool)
    }

    private struct Connection {
        let channel: any Channel
        var standing = Standing.waiting
        /// When it got its standing, in the order of all such changes.
        var since: UInt64
    }

    private struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        var changes: UInt64 = 0
    }

    private let state = Mutex(State())
    private let most: Int
    private let mostOfMembers: Int

    /// - Parameter most: when this many are open, one of them is closed, so that the next can be accepted.
    init(most: Int) {
        self.most = most
        mostOfMembers = most / 2
    }

    func opened(_ channel: any Channel) {
        closeOne { state in
            state.changes += 1
            let new = ObjectIdentifier(channel)
            state.connections[new] = Connection(channel: channel, since: state.changes)
            // Its request is still on its way.
            return takeOne(from: &state, besides: new)
        }
    }

    func closed(_ channel: any Channel) {
        state.withLock { $0.connections[ObjectIdentifier(channel)] = nil }
    }

    /// Notes that a connection has sent a whole request.
    ///
    /// - Parameter caller: `nil` if the request has no session.
    func answers(_ channel: any Channel, for caller: Caller?) {
        state.withLock { state in
            guard let caller else { return set(.answering, of: channel, &state) }
            let isFull = caller.isMember && countOfMembers(state) >= mostOfMembers
            set(isFull ? .answering : .kept(isMember: caller.isMember), of: channel, &state)
        }
    }

    /// Notes that the answers to all requests of a connection are written.
    func waits(_ channel: any Channel) {
        closeOne { state in
            set(.waiting, of: channel, &state)
            return takeOne(from: &state)
        }
    }

    private func countOfMembers(_ state: State) -> Int {
        state.connections.values.count { $0.standing == .kept(isMember: true) }
    }

    private func set(_ standing: Standing, of channel: any Channel, _ state: inout State) {
        let key = ObjectIdentifier(channel)
        guard var connection = state.connections[key] else { return }
        state.changes += 1
        connection.standing = standing
        connection.since = state.changes
        state.connections[key] = connection
    }

    /// Removes the connection that makes room; none if there is room, or all connections keep their places.
    private func takeOne(
        from state: inout State,
        besides new: ObjectIdentifier? = nil
    ) -> (any Channel)? {
        guard state.connections.count >= most else { return nil }
        for standing in [Standing.waiting, .answering] {
            let candidates = state.connections.filter {
                $0.key != new && $0.value.standing == standing
            }
            if let first = candidates.min(by: { $0.value.since < $1.value.since }) {
                state.connections[first.key] = nil
                return first.value.channel
            }
        }
        return nil
    }

    private func closeOne(_ choose: (inout sending State) -> sending (any Channel)?) {
        // Closing calls `closed`, which needs the lock.
        state.withLock(choose)?.close(promise: nil)
    }
}
