// SPDX-License-Identifier: Apache-2.0

@testable import BghostTransfer
import Hummingbird
import NIOCore
import Testing

@Suite(.timeLimit(.minutes(5)))
struct BrokenExchangeTests {
    @Test func `A refused connection is named`() async throws {
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

    @Test func `A server that does not speak TLS is named`() async throws {
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
    func `A timeout of zero or less fails`(_ timeout: Duration) async throws {
        let socket = try SilentSocket(accepts: true)
        await #expect(throws: FetchFailure.timedOut(after: timeout)) {
            try await fetch("http://127.0.0.1:\(socket.port)/", timeout: timeout)
        }
    }

    @Test(arguments: [Duration.seconds(Int64.max), .milliseconds(Int64.max)])
    func `An endless timeout is no trap`(_ timeout: Duration) async throws {
        try await withServer { _ in
            Response(status: .ok)
        } test: { port in
            let response = try await fetch("http://127.0.0.1:\(port)/", timeout: timeout)
            #expect(response.status == 200)
        }
    }

    @Test func `A server that never answers is timed out`() async throws {
        let listener = try SilentSocket(accepts: true)
        await #expect(throws: FetchFailure.timedOut(after: .milliseconds(50))) {
            try await fetch("http://127.0.0.1:\(listener.port)/", timeout: .milliseconds(50))
        }
    }

    @Test func `A body that stops halfway is timed out`() async throws {
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

    @Test func `A connection that breaks halfway is a failure`() async throws {
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

    @Test func `Cancelling the task ends the fetch`() async throws {
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

    @Test func `A task that is cancelled already sends nothing`() async throws {
        let refusing = try SilentSocket(accepts: false)
        let port = refusing.port
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await fetch("http://127.0.0.1:\(port)/")
        }
        await #expect(throws: FetchFailure.cancelled) { try await task.value }
    }

    @Test func `Shutting down ends fetches and refuses new ones`() async throws {
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
