// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostControl
import BghostTestSupport
import NIOCore
import Synchronization
import Testing

/// The answer that pages of the dashboard share.
@Suite(.timeLimit(.minutes(5))) struct SharedAnswerTests {
    private final class Clock: Sendable {
        private let time = Mutex<MonotonicInstant>(.zero + 1)

        var now: MonotonicInstant { time.withLock(\.self) }

        func pass(_ nanoseconds: UInt64) { time.withLock { $0 = $0 + nanoseconds } }
    }

    private final class Maker: Sendable {
        private let made = Mutex(0)

        func make() -> ByteBuffer {
            ByteBuffer(
                string: made.withLock { made in
                    made += 1
                    return "\(made)"
                }
            )
        }
    }

    private let clock = Clock()
    private let maker = Maker()

    private func text(_ answer: SharedAnswer) async -> String {
        String(buffer: await answer.bytes { maker.make() })
    }

    @Test func `An answer is made once a second at most`() async {
        let answer = SharedAnswer { [clock] in clock.now }
        #expect(await text(answer) == "1")
        clock.pass(SharedAnswer.ageMax - 1)
        #expect(await text(answer) == "1")
        clock.pass(1)
        #expect(await text(answer) == "2")
    }

    @Test func `A verb ends it, also one while it is made`() async {
        let answer = SharedAnswer { [clock] in clock.now }
        #expect(await text(answer) == "1")
        answer.end()
        #expect(await text(answer) == "2")
        let slow = await answer.bytes { maker.make() }
        #expect(String(buffer: slow) == "2")
        answer.end()
        let made = await answer.bytes {
            // It has looked already, and the verb comes before it is done.
            let bytes = maker.make()
            answer.end()
            return bytes
        }
        #expect(String(buffer: made) == "3")
        #expect(await text(answer) == "4")
    }

    @Test func `What could not be made is not shared`() async throws {
        struct Failure: Error {}
        let answer = SharedAnswer { [clock] in clock.now }
        await #expect(throws: Failure.self) { _ = try await answer.bytes { throw Failure() } }
        #expect(await text(answer) == "1")
    }

    @Test func `A page sees what its verb did, and the socket always what there is`() async throws {
        try await DashboardServing.with { serving in
            let host = serving.host
            await host.holdPlugin()
            let token = try serving.session()
            func waits(_ text: String) -> Bool { text.contains(#""state":"waiting""#) }
            #expect(!waits(try await serving.answer("GET /v1/status", token: token)))
            let submitted = try await serving.answer(
                "POST /v1/submit",
                token: token,
                body: #"{"task":"com.acme.storm"}"#
            )
            #expect(submitted.hasPrefix("HTTP/1.1 202 "), "\(submitted)")
            #expect(waits(try await serving.answer("GET /v1/status", token: token)))
            await host.releasePlugin()
            let own = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send("GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n")
                return connection.receiveAnswer()
            }
            #expect(own.contains(#""state":"running""#))
        }
    }
}
