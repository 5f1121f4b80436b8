// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import Synchronization

/// Limits the requests of one entrance that are under way.
///
/// A request goes on when its client has closed the connection, so the limit of connections does not cover
/// it. Of both, members of the control group have at most half. Safe on any thread.
final class OpenRequests: Sendable {
    private struct State {
        var members: Set<ObjectIdentifier> = []
        var count = 0
        var countOfMembers = 0
    }

    private let state = Mutex(State())
    private let most: Int
    private let mostOfMembers: Int

    /// - Parameter most: of all clients together, as many as they may have connections.
    init(most: Int) {
        self.most = most
        mostOfMembers = max(1, most / 2)
    }

    /// Counts a connection of a member.
    ///
    /// - Returns: `false` if members have as many as they may.
    func add(member connection: ObjectIdentifier) -> Bool {
        state.withLock { state in
            guard state.members.count < mostOfMembers else { return false }
            return state.members.insert(connection).inserted
        }
    }

    func remove(member connection: ObjectIdentifier) {
        state.withLock { _ = $0.members.remove(connection) }
    }

    func isMember(_ connection: ObjectIdentifier) -> Bool {
        state.withLock { $0.members.contains(connection) }
    }

    /// Answers a request unless too many are under way.
    func answer<Value>(
        isMember: Bool,
        _ body: () async throws -> Value
    ) async throws -> Value {
        guard begin(isMember: isMember) else {
            throw ControlFault(
                .unavailable,
                "too many requests are under way, some perhaps of clients that have left",
                fix: "ask again in a few seconds"
            )
        }
        defer {
            state.withLock { state in
                state.count -= 1
                if isMember { state.countOfMembers -= 1 }
            }
        }
        return try await body()
    }

    private func begin(isMember: Bool) -> Bool {
        state.withLock { state in
            guard state.count < most, !isMember || state.countOfMembers < mostOfMembers else {
                return false
            }
            state.count += 1
            if isMember { state.countOfMembers += 1 }
            return true
        }
    }
}
