// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
@testable import BghostControl
import BghostModel
import BghostTestSupport
import Synchronization
import Testing

/// What users of the dashboard leave to one another.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct DashboardUserTests {
    /// Each ticket and session ends a nanosecond later than the one before.
    private func sessions() -> DashboardSessions {
        let now = Mutex<MonotonicInstant>(1000)
        return DashboardSessions(
            sessionTime: .seconds(3600),
            now: {
                now.withLock { now in
                    now += 1
                    return now
                }
            },
            wall: { 7 }
        )
    }

    private func caller(uid: UInt32) -> Caller {
        Caller(
            peer: PeerCredentials(pid: 7, uid: uid, gid: 0),
            role: uid == 0 ? .operate : .read
        )
    }

    private func begin(_ sessions: DashboardSessions, uid: UInt32) throws -> String {
        let ticket = sessions.makeTicket(for: caller(uid: uid)).key
        return try #require(sessions.begin(ticket: ticket)).key
    }

    @Test func `A member of the group ends no session and no ticket of an operator`() throws {
        let sessions = sessions()
        let session = try begin(sessions, uid: 0)
        let ticket = sessions.makeTicket(for: caller(uid: 0)).key
        for _ in 0..<2 * DashboardSessions.sessionsMax { _ = try begin(sessions, uid: 99) }
        for _ in 0..<2 * DashboardSessions.ticketsMax {
            _ = sessions.makeTicket(for: caller(uid: 99))
        }
        #expect(sessions.caller(token: session)?.role == .operate)
        #expect(sessions.begin(ticket: ticket) != nil)
    }

    @Test func `Of members the one with the most sessions makes room, or else the same one`() throws
    {
        let sessions = sessions()
        let own = try begin(sessions, uid: 98)
        var others: [String] = []
        for _ in 0..<DashboardSessions.sessionsMax + 1 {
            others.append(try begin(sessions, uid: 99))
        }
        func isOpen(_ token: String) -> Bool { sessions.caller(token: token) != nil }
        #expect(isOpen(own), "it is the oldest of all, and the only one of its user")
        #expect(others.map(isOpen).prefix { !$0 }.count == 2 && isOpen(others[2]))
        let first = try begin(sessions, uid: 97)
        #expect(isOpen(own) && isOpen(first) && !isOpen(others[2]) && isOpen(others[3]))
        let second = try begin(sessions, uid: 97)
        #expect(!isOpen(first) && isOpen(second) && isOpen(own) && isOpen(others[3]))
    }

    @Test func `A session that made room is told so`() async throws {
        try await DashboardServing.with { serving in
            let first = try serving.session(.read)
            for _ in 0..<DashboardSessions.sessionsMax { _ = try serving.session(.read) }
            let answer = try await serving.answer("GET /v1/status", token: first)
            #expect(answer.hasPrefix("HTTP/1.1 401 ") && answer.contains("BG2122"), "\(answer)")
            #expect(answer.contains("newer sessions took its place"), "\(answer)")
        }
    }
}
