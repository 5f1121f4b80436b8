// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
@testable import BghostControl
import BghostModel
import BghostTestSupport
import Glibc
import Synchronization
import Testing

/// Clients that leave while the daemon still works for them, or that read slowly.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct ClientPresenceTests {
    private static let trigger =
        "POST /v1/tasks/com.acme.storm/trigger?wait=true HTTP/1.1\r\nHost: localhost\r\n"
        + "Content-Length: 0\r\n\r\n"
    private static let version = "GET /v1/version HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test(arguments: ["", version, version + version])
    func `A client that leaves while it waits for its trigger leaves nothing behind`(
        behind: String
    ) async throws {
        try await Serving.with { serving in
            for _ in 0..<3 {
                let connection = try RawConnection(serving.socketPath)
                connection.send(Self.trigger + behind)
                await serving.host.untilAwaited()
                // The other end sees it closed.
                shutdown(connection.fd, Int32(SHUT_RDWR))
                await serving.host.untilNobodyWaits()
            }
            let answer = try await serving.ask { try await $0.version() }
            #expect(answer.value.pid == getpid())
        }
    }

    @Test func `A client that leaves a wait with more requests behind it leaves nothing behind`()
        async throws
    {
        try await Serving.with { serving in
            let run = try await serving.host.begin("com.acme.storm")
            let wait = "GET /v1/requests/\(run.request)/run HTTP/1.1\r\nHost: localhost\r\n\r\n"
            for _ in 0..<3 {
                let connection = try RawConnection(serving.socketPath)
                connection.send(wait + Self.version)
                await serving.host.untilAwaited(run.request)
                shutdown(connection.fd, Int32(SHUT_RDWR))
                await serving.host.untilNobodyWaits()
            }
        }
    }

    @Test func `A client that sends no more still gets the run that it waits for`() async throws {
        try await Serving.with { serving in
            let run = try await serving.host.begin("com.acme.storm")
            let connection = try RawConnection(serving.socketPath)
            connection.send(
                "GET /v1/requests/\(run.request)/run HTTP/1.1\r\nHost: localhost\r\n\r\n"
            )
            await serving.host.untilAwaited(run.request)
            shutdown(connection.fd, Int32(SHUT_WR))
            try await serving.host.end(run)
            let answer = try await onThread { connection.receiveAnswer() }
            #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
            #expect(answer.contains(run.id.description))
        }
    }

    @Test func `A client that first sends no more and then leaves ends its wait`() async throws {
        try await Serving.with { serving in
            let run = try await serving.host.begin("com.acme.storm")
            let connection = try RawConnection(serving.socketPath)
            connection.send(
                "GET /v1/requests/\(run.request)/run HTTP/1.1\r\nHost: localhost\r\n\r\n"
            )
            await serving.host.untilAwaited(run.request)
            shutdown(connection.fd, Int32(SHUT_WR))
            shutdown(connection.fd, Int32(SHUT_RDWR))
            await serving.host.untilNobodyWaits()
        }
    }

    @Test func `After a wait the connection takes the next request`() async throws {
        try await Serving.with { serving in
            let run = try await serving.host.begin("com.acme.storm")
            try await serving.host.end(run)
            let answers = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send(
                    "GET /v1/requests/\(run.request)/run HTTP/1.1\r\nHost: localhost\r\n\r\n"
                )
                let first = connection.receiveAnswer()
                connection.send(Self.version)
                return [first, connection.receiveAnswer()]
            }
            #expect(answers.allSatisfy { $0.hasPrefix("HTTP/1.1 200 ") }, "\(answers)")
        }
    }

    @Test func `A follower that does not read loses its connection`() async throws {
        var limits = ControlLimits.patient
        limits.stallTime = .milliseconds(1)
        try await Serving.with(limits: limits) { serving in
            let connection = try RawConnection(serving.socketPath)
            connection.send("GET /v1/logs?follow=true HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await serving.host.untilFollowed(by: 1)
            let line = String(repeating: "x", count: 4000)
            while serving.host.isFollowed {
                serving.host.say(line)
                await Task.yield()
            }
        }
    }

    @Test func `A client that reads slowly gets its whole answer`() async throws {
        var limits = ControlLimits.patient
        limits.stallTime = .seconds(1)
        let filling = String(repeating: "x", count: 200 << 10)
        try await Serving.with(limits: limits) { serving in
            for _ in 0..<40 {
                let run = try await serving.host.begin("com.acme.storm")
                try await serving.host.end(run, result: #"{"x":"\#(filling)"}"#)
            }
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send("GET /v1/runs?limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n")
                // Byte by byte for longer than a client may read nothing.
                let end = ContinuousClock.now + .milliseconds(2500)
                var bytes: [UInt8] = []
                var byte: UInt8 = 0
                while ContinuousClock.now < end, recv(connection.fd, &byte, 1, 0) == 1 {
                    bytes.append(byte)
                }
                return connection.receiveAnswer(after: bytes)
            }
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
            #expect(answer.hasSuffix("}\n"), "\(answer.utf8.count) bytes")
        }
    }

    private final class Connection: Sendable {
        var id: ObjectIdentifier { ObjectIdentifier(self) }
    }

    @Test func `Requests that are under way are limited, those of members to half`() async throws {
        let requests = OpenRequests(most: 4)
        let members = [Connection(), Connection(), Connection()]
        #expect(members.map { requests.add(member: $0.id) } == [true, true, false])
        #expect(members.map { requests.isMember($0.id) } == [true, true, false])
        let begun = Begun(requests)
        #expect(await begun.ask(isMember: true))
        #expect(await begun.ask(isMember: true))
        // Their clients have left.
        for member in members { requests.remove(member: member.id) }
        #expect(members.map { requests.add(member: $0.id) } == [true, true, false])
        #expect(await !begun.ask(isMember: true))
        #expect(await begun.ask(isMember: false))
        #expect(await begun.ask(isMember: false))
        #expect(await !begun.ask(isMember: false))
        await begun.end()
        #expect(await begun.ask(isMember: true))
        await begun.end()
    }

    /// Requests that stay under way until they are ended.
    private final class Begun: Sendable {
        private struct State {
            var waiting: [CheckedContinuation<Void, Never>] = []
            var tasks: [Task<Void, Never>] = []
        }

        private let requests: OpenRequests
        private let state = Mutex(State())

        init(_ requests: OpenRequests) { self.requests = requests }

        /// - Returns: whether the request is under way, and not refused.
        func ask(isMember: Bool) async -> Bool {
            let (answers, answer) = AsyncStream<Bool>.makeStream()
            let task = Task { [self] in
                do {
                    try await requests.answer(isMember: isMember) {
                        await withCheckedContinuation { continuation in
                            state.withLock { $0.waiting.append(continuation) }
                            answer.yield(true)
                        }
                    }
                } catch {
                    answer.yield(false)
                }
            }
            state.withLock { $0.tasks.append(task) }
            for await isBegun in answers { return isBegun }
            return false
        }

        func end() async {
            let (waiting, tasks) = state.withLock { state in
                defer { state = State() }
                return (state.waiting, state.tasks)
            }
            for continuation in waiting { continuation.resume() }
            for task in tasks { await task.value }
        }
    }
}
