// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostCrypto
internal import BghostLinux
internal import BghostModel
internal import Synchronization

/// The tickets and sessions of the dashboard.
///
/// A ticket is a random number of 128 bits in the link that `bghost dashboard` prints. It begins one session,
/// within a minute, with the role and the user of the client that asked for it. The token of a session is
/// such a number too, and the page sends it with each request. There is no cookie, so a browser adds nothing
/// to a request of another page. Both are kept in memory only: after a restart, people log in again.
///
/// Any thread may use it. Each call costs O(`ticketsMax` + `sessionsMax`) at the most.
final class DashboardSessions: Sendable {
    /// A ticket that was made, or a session that began.
    struct Grant: Equatable {
        /// 32 hexadecimal digits.
        let key: String
        let caller: Caller
        /// When it ends, Unix nanoseconds, for people.
        let expiresAt: Int64
    }

    private struct Entry {
        let caller: Caller
        let end: MonotonicInstant
    }

    private struct State {
        var tickets: [String: Entry] = [:]
        var sessions: [String: Entry] = [:]
    }

    static let ticketTime: Duration = .seconds(60)
    /// How many tickets and sessions operators can have, and members of the control group as many again.
    ///
    /// At the limit the oldest of the same user makes room, and if it has none, the oldest of the user with
    /// the most. So no member ends one of an operator, and none ends the only one of another user.
    static let ticketsMax = 64
    static let sessionsMax = 64

    private let sessionTime: Duration
    private let now: @Sendable () -> MonotonicInstant
    private let wall: @Sendable () -> Int64
    private let state = Mutex(State())

    /// - Parameters:
    ///   - sessionTime: how long a session lasts.
    ///   - wall: Unix nanoseconds.
    init(
        sessionTime: Duration,
        now: @escaping @Sendable () -> MonotonicInstant = { Monotonic.now },
        wall: @escaping @Sendable () -> Int64 = { WallClock.now }
    ) {
        self.sessionTime = sessionTime
        self.now = now
        self.wall = wall
    }

    /// Makes a ticket with the rights of a client.
    func makeTicket(for caller: Caller) -> Grant {
        state.withLock { state in
            add(caller, for: Self.ticketTime, most: Self.ticketsMax, to: &state.tickets)
        }
    }

    /// Uses up a ticket.
    ///
    /// - Returns: the session that it begins; `nil` if there is no such ticket, or no more.
    func begin(ticket: String) -> Grant? {
        state.withLock { state in
            guard let entry = state.tickets.removeValue(forKey: ticket), entry.end > now() else {
                return nil
            }
            return add(entry.caller, for: sessionTime, most: Self.sessionsMax, to: &state.sessions)
        }
    }

    /// Who began the session with this token; `nil` if it has ended.
    func caller(token: String) -> Caller? {
        state.withLock { state in
            guard let entry = state.sessions[token] else { return nil }
            guard entry.end > now() else {
                state.sessions[token] = nil
                return nil
            }
            return entry.caller
        }
    }

    /// Ends a session.
    func end(token: String) {
        // A session that has expired is gone already.
        state.withLock { state in _ = state.sessions.removeValue(forKey: token) }
    }

    private func add(
        _ caller: Caller,
        for time: Duration,
        most: Int,
        to entries: inout [String: Entry]
    ) -> Grant {
        let now = now()
        entries = entries.filter { $0.value.end > now }
        Self.makeRoom(for: caller, most: most, in: &entries)
        let length = time.clampedNanoseconds
        let key = Self.makeKey()
        var caller = caller
        // A part of the hash names the session in the audit, and is no token.
        caller.session = AuditHead.digits(Array(SHA256.hash(data: Array(key.utf8)).prefix(6)))
        entries[key] = Entry(caller: caller, end: now + length)
        return Grant(
            key: key,
            caller: caller,
            expiresAt: wall().addingClamped(Int64(clamping: length))
        )
    }

    private static func makeRoom(
        for caller: Caller,
        most: Int,
        in entries: inout [String: Entry]
    ) {
        let users = Dictionary(
            grouping: entries.filter { $0.value.caller.isMember == caller.isMember },
            by: { $0.value.caller.peer.uid }
        )
        guard users.values.reduce(0, { $0 + $1.count }) >= most else { return }
        let own = users[caller.peer.uid] ?? users.values.max { $0.count < $1.count } ?? []
        guard let first = own.min(by: { $0.value.end < $1.value.end }) else { return }
        entries[first.key] = nil
    }

    private static func makeKey() -> String {
        var random = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdef")
        let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
