// SPDX-License-Identifier: Apache-2.0

@testable import BghostTransfer
import Hummingbird
import NIOCore
import Testing

@Suite(.timeLimit(.minutes(5)))
struct BrokenExchangeTests {
    @Test func aRefusedConnectionIsNamed() async throws {
        let refusing = try SilentSocket(accepts: false)
        let port = refusing.port
        let failure = await #expect(throws: FetchFailure.self) {
            try await fetch("http://127.0.0.1:\(port)/path?token=secret")
        }
        #expect(
            failure?.description == """
                the exchange with 127.0.0.1:\(port) failed: connection refused: \
                nothing listens there
                """
        )
    }

    @Test func aServerThatDoesNotSpeakTLSIsNamed() async throws {
        try await withServer { _ in
            Response(status: .ok)
        } test: { port in
            let failure = await #expect(throws: FetchFailure.self) {
                try await fetch("https://127.0.0.1:\(port)/")
            }
            #expect(
                failure?.description == """
                    the exchange with 127.0.0.1:\(port) failed: no TLS connection could be made \
                    (WRONG_VERSION_NUMBER)
                    """
            )
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func aTimeoutOfZeroOrLessFails(_ timeout: Duration) async throws {
        let socket = try SilentSocket(accepts: true)
        await #expect(throws: FetchFailure.timedOut(after: timeout)) {
            try await fetch("http://127.0.0.1:\(socket.port)/", timeout: timeout)
        }
    }

    @Test(arguments: [Duration.seconds(Int64.max), .milliseconds(Int64.max)])
    func anEndlessTimeoutIsNoTrap(_ timeout: Duration) async throws {
        try await withServer { _ in
            Response(status: .ok)
        } test: { port in
            let response = try await fetch("http://127.0.0.1:\(port)/", timeout: timeout)
            #expect(response.status == 200)
        }
    }

    @Test func aServerThatNeverAnswersIsTimedOut() async throws {
        let listener = try SilentSocket(accepts: true)
        await #expect(throws: FetchFailure.timedOut(after: .milliseconds(50))) {
            try await fetch("http://127.0.0.1:\(listener.port)/", timeout: .milliseconds(50))
        }
    }

    @Test func aBodyThatStopsHalfwayIsTimedOut() async throws {
        let never = Event()
        try await withServer { _ in
            Response(
                status: .ok,
                body: .init { writer in
                    try await writer.write(ByteBuffer(string: "half"))
                    await never.wait()
                }
            )
        } test: { port in
            defer { never.occur() }
            await #expect(throws: FetchFailure.timedOut(after: .milliseconds(300))) {
                try await fetch("http://127.0.0.1:\(port)/", timeout: .milliseconds(300))
            }
        }
    }

    @Test func aConnectionThatBreaksHalfwayIsAFailure() async throws {
        struct Broken: Error {}
        try await withServer { _ in
            Response(
                status: .ok,
                body: .init(contentLength: 100) { writer in
                    try await writer.write(ByteBuffer(string: "half"))
                    throw Broken()
                }
            )
        } test: { port in
            await #expect {
                try await fetch("http://127.0.0.1:\(port)/")
            } throws: { error in
                guard case FetchFailure.connection("127.0.0.1:\(port)", _) = error else {
                    return false
                }
                return true
            }
        }
    }

    @Test func cancellingTheTaskEndsTheFetch() async throws {
        let arrived = Event()
        let never = Event()
        try await withServer { _ in
            arrived.occur()
            await never.wait()
            return Response(status: .ok)
        } test: { port in
            defer { never.occur() }
            let task = Task { try await fetch("http://127.0.0.1:\(port)/") }
            await arrived.wait()
            task.cancel()
            await #expect(throws: FetchFailure.cancelled) { try await task.value }
        }
    }

    @Test func aTaskThatIsCancelledAlreadySendsNothing() async throws {
        let refusing = try SilentSocket(accepts: false)
        let port = refusing.port
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await fetch("http://127.0.0.1:\(port)/")
        }
        await #expect(throws: FetchFailure.cancelled) { try await task.value }
    }

    @Test func shuttingDownEndsFetchesAndRefusesNewOnes() async throws {
        let arrived = Event()
        let never = Event()
        try await withServer { _ in
            arrived.occur()
            await never.wait()
            return Response(status: .ok)
        } test: { port in
            defer { never.occur() }
            let fetcher = HTTPFetcher(names: .system, network: .patient)
            let request = FetchRequest(url: "http://127.0.0.1:\(port)/", timeout: .seconds(3600))
            let task = Task { try await fetcher.fetch(request) { _, _ in true } }
            await arrived.wait()
            await fetcher.shutDown()
            await #expect(throws: FetchFailure.shutDown) { try await task.value }
            await #expect(throws: FetchFailure.shutDown) {
                try await fetcher.fetch(request) { _, _ in true }
            }
        }
    }
}
