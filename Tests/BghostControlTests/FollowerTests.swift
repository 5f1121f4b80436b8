// SPDX-License-Identifier: Apache-2.0

import BghostAPI
@testable import BghostControl
import BghostModel
import BghostTestSupport
import Testing

/// How many streams clients may follow.
@Suite struct FollowerTests {
    private func caller(uid: UInt32, session: String = "") -> Caller {
        var caller = Caller(peer: PeerCredentials(pid: 7, uid: uid, gid: 0), role: .read)
        caller.session = session
        return caller
    }

    /// Takes this many streams for each client.
    private func taken(
        _ count: Int,
        for clients: [Caller?],
        _ slots: FollowerSlots
    ) throws -> [FollowerSlots.Lease] {
        try clients.flatMap { client in
            try (0..<count).map { _ in try slots.take(for: client) }
        }
    }

    @Test func `The 33rd stream is refused, and one that ends makes room`() throws {
        let slots = FollowerSlots()
        let sessions = ["", "a", "b", "c"].map { caller(uid: 0, session: $0) }
        var leases = try taken(8, for: sessions, slots)
        let refused = #expect(throws: ControlFault.self) {
            try slots.take(for: caller(uid: 99))
        }
        #expect(refused?.code == .tooManyFollowers && refused?.code.httpStatus == 429)
        #expect(refused?.message.contains("32 streams are followed already") == true)
        leases[0].end()
        leases[0].end()
        #expect(slots.count == 31)
        let other = try slots.take(for: caller(uid: 99))
        #expect(slots.count == 32)
        other.end()
        leases.removeAll()
        #expect(slots.count == 0)
    }

    @Test func `The ninth stream of one client is refused, and another client has its own`() throws
    {
        let slots = FollowerSlots()
        let clients = [nil, caller(uid: 0), caller(uid: 0, session: "a"), caller(uid: 99)]
        var leases = try taken(8, for: clients, slots)
        leases.removeLast(1)
        for (client, name) in zip(
            clients,
            ["an unknown user", "user 0", "the session a of the dashboard"]
        ) {
            let refused = #expect(throws: ControlFault.self) { try slots.take(for: client) }
            #expect(
                refused?.message == "\(name) follows 8 streams already, the most for one client"
            )
        }
    }

    @Test func `Further sessions of a member give it no more streams`() throws {
        let slots = FollowerSlots()
        let leases = try taken(
            4,
            for: ["", "a"].map { caller(uid: 99, session: $0) },
            slots
        )
        let refused = #expect(throws: ControlFault.self) {
            try slots.take(for: caller(uid: 99, session: "b"))
        }
        #expect(refused?.message == "user 99 follows 8 streams already, the most for one client")
        withExtendedLifetime(leases) {}
    }

    @Test func `Members of the group leave half of the streams to operators`() throws {
        let slots = FollowerSlots()
        let members = try taken(8, for: [caller(uid: 98), caller(uid: 99)], slots)
        let refused = #expect(throws: ControlFault.self) {
            try slots.take(for: caller(uid: 97))
        }
        #expect(refused?.code == .tooManyFollowers)
        #expect(refused?.message.contains("follow 16 streams already") == true)
        let sessions = ["", "a"].map { caller(uid: 0, session: $0) }
        let operators = try taken(8, for: sessions, slots)
        #expect(slots.count == 32)
        withExtendedLifetime((members, operators)) {}
    }

    @Test(.timeLimit(.minutes(5)))
    func `A client at its limit is refused until one of its streams has ended`() async throws {
        try await Serving.with { serving in
            let path = serving.socketPath
            try await onThread {
                let follow = "GET /v1/logs?follow=true HTTP/1.1\r\nHost: localhost\r\n\r\n"
                var streams: [RawConnection] = []
                for _ in 0..<8 {
                    let stream = try RawConnection(path)
                    stream.send(follow)
                    #expect(stream.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
                    streams.append(stream)
                }
                let ninth = try RawConnection(path)
                ninth.send(follow)
                let answer = ninth.receiveAnswer()
                #expect(answer.hasPrefix("HTTP/1.1 429 ") && answer.contains("BG4048"), "\(answer)")
                // Lines that are not followed, and other questions, need no place.
                for path in ["logs", "version"] {
                    ninth.send("GET /v1/\(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    #expect(ninth.receiveAnswer().hasPrefix("HTTP/1.1 200 "))
                }
                withExtendedLifetime(streams) {}
            }
        }
    }
}
