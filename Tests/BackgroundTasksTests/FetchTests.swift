// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BghostTestSupport
import CBghost
import FoundationEssentials
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct FetchTests {
    private let url: URL

    init() throws { url = try #require(URL(string: "http://example.org/a?b=c")) }

    @Test func `A request reaches the host with all its fields`() async throws {
        let plugin = try TestPlugin {
            Handler("a") { [url] context in
                let request = FetchRequest(
                    url,
                    method: "PUT",
                    headers: [("A", "1"), ("B", "x: y")],
                    body: .file("/spool/a.jpg"),
                    digest: true,
                    maximumBytes: 10,
                    timeout: .seconds(2)
                )
                _ = try await context.fetch(request)
                return try await context.fetch(FetchRequest(url, body: .data(Data([65, 66]))))
                    .status
            }
        }
        plugin.host.onFetch.withLock { $0 = { $0.end() } }
        #expect(try await plugin.end() == Ending(status: BG_OK, payload: "200"))
        let calls = plugin.host.state.withLock { $0.fetches }
        let first = try #require(calls.first)
        #expect(first.url == "http://example.org/a?b=c")
        #expect(first.method == "PUT")
        #expect(first.headers == "A: 1\nB: x: y\n")
        #expect(first.file == "/spool/a.jpg")
        #expect(first.body.isEmpty)
        #expect(first.flags == BG_FETCH_DIGEST)
        #expect(first.bytesMax == 10)
        #expect(first.timeout == 2000)
        let second = try #require(calls.last)
        #expect(second.method == "GET")
        #expect(second.body == "AB")
        #expect([second.bytesMax, second.timeout, Int64(second.flags)] == [0, 0, 0])
    }

    @Test func `An answer from another thread is returned`() async throws {
        let plugin = try TestPlugin {
            Handler("a") { [url] context in
                let response = try await context.fetch(FetchRequest(url))
                let body = String(decoding: response.body, as: UTF8.self)
                return ["\(response.status)", response.header("X-Kind") ?? "-", body]
            }
        }
        let run = try plugin.run()
        #expect(run.start() == BG_PENDING)
        let call = await plugin.host.fetchBegan.value
        #expect(call.run == run.number)
        call.end(http: 404, headers: "x-kind: a:b\nbroken\ny:\n", body: "no")
        #expect(await run.ended.value.payload == #"["404","a:b","no"]"#)
        run.release()
    }

    @Test func `Cancelling the task cancels the fetch, and its end is awaited`() async throws {
        let plugin = try TestPlugin {
            Handler("a") { [url] in _ = try await $0.fetch(FetchRequest(url)) }
        }
        let run = try plugin.run()
        #expect(run.start() == BG_PENDING)
        let call = await plugin.host.fetchBegan.value
        run.cancel()
        #expect(await plugin.host.fetchCancelled.value == call.number)
        #expect(run.ended.now == nil)
        call.end(status: BG_E_CANCELLED)
        #expect(await run.ended.value == Ending(status: BG_E_CANCELLED))
        run.release()
    }

    @Test func `A task that is cancelled while a fetch begins cancels it`() async throws {
        let plugin = try TestPlugin {
            Handler("a") { [url] in _ = try await $0.fetch(FetchRequest(url)) }
        }
        let run = try plugin.run()
        // Within begin, before its number is known.
        plugin.host.onFetch.withLock { $0 = { _ in run.cancel() } }
        #expect(run.start() == BG_PENDING)
        let call = await plugin.host.fetchBegan.value
        #expect(await plugin.host.fetchCancelled.value == call.number)
        call.end(status: BG_E_CANCELLED)
        #expect(await run.ended.value == Ending(status: BG_E_CANCELLED))
        run.release()
    }

    @Test func `A task that is cancelled already begins no fetch`() async throws {
        let begun = Signal<Void>()
        let plugin = try TestPlugin {
            Handler("a") { [url] context in
                begun.send()
                try? await untilCancelled()
                _ = try await context.fetch(FetchRequest(url))
            }
        }
        let run = try plugin.run()
        #expect(run.start() == BG_PENDING)
        await begun.value
        run.cancel()
        #expect(await run.ended.value == Ending(status: BG_E_CANCELLED))
        #expect(plugin.host.state.withLock { $0.fetches }.isEmpty)
        run.release()
    }

    @Test(
        arguments: [
            (BG_E_PERM, FetchError.Code.notPermitted, "permissions.network"),
            (BG_E_LIMIT, .limitExceeded, "64 KiB"), (BG_E_ARG, .invalidRequest, "understand"),
            (BG_E_STALE, .unavailable, "the run is over"), (BG_E_CLOSED, .unavailable, "closed"),
            (-77, .failed, "-77"),
        ] as [(bg_status, FetchError.Code, String)]
    )
    func `A fetch that the host refuses throws`(
        answer: bg_status,
        code: FetchError.Code,
        reason: String
    ) async throws {
        let host = ScriptedHost()
        host.state.withLock { $0.fetchAnswer = answer }
        let error = try await failure(on: host)
        #expect(error.code == code)
        #expect(error.description.hasPrefix(url.absoluteString))
        #expect(error.description.contains(reason))
    }

    @Test func `A fetch that fails says why in the host's words`() async throws {
        let host = ScriptedHost()
        host.onFetch.withLock { $0 = { $0.end(status: BG_E_FAILED, message: "refused") } }
        let error = try await failure(on: host)
        #expect(error.code == .failed)
        #expect(error.description == "\(url): refused")
    }

    @Test func `A host that cannot fetch says so`() async throws {
        let error = try await failure(on: ScriptedHost(extensions: [BG_EXT_SCHEDULE]))
        #expect(error.code == .unavailable)
        #expect(error.description == "\(url): this host cannot fetch")
    }

    @Test(arguments: [("A", "1\nB: 2"), ("A\r", "1"), ("", "1"), ("A:B", "1"), ("A", "\u{7F}")])
    func `A header field cannot bring another along`(name: String, value: String) async throws {
        let host = ScriptedHost()
        let error = try await failure(on: host, headers: [(name, value)])
        #expect(error.code == .invalidRequest)
        #expect(host.state.withLock { $0.fetches }.isEmpty)
    }

    @Test(
        arguments: [
            ("120", 120), ("-4", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("soon", nil),
            (nil, nil),
            ("Sun, 06 Foo 1994 08:49:37 GMT", nil),
        ] as [(String?, Int64?)]
    )
    func `Retry-After is read`(field: String?, seconds: Int64?) {
        let headers = field.map { [(name: "retry-after", value: $0)] } ?? []
        let response = FetchResponse(status: 429, headers: headers)
        #expect(response.retryAfter?.components.seconds == seconds)
        #expect(response.isTemporaryFailure)
    }

    @Test func `Retry-After as a date counts from now`() throws {
        let response = FetchResponse(
            status: 503,
            headers: [("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT")]
        )
        #expect(try #require(response.retryAfter) > .seconds(1_000_000_000))
    }

    private func failure(
        on host: ScriptedHost,
        headers: [(name: String, value: String)] = []
    ) async throws -> FetchError {
        let failure = Signal<any Error>()
        let plugin = try TestPlugin(on: host) {
            Handler("a") { [url] context in
                do {
                    _ = try await context.fetch(FetchRequest(url, headers: headers))
                } catch {
                    failure.send(error)
                }
            }
        }
        #expect(try await plugin.end() == Ending(status: BG_OK))
        return try #require(failure.now as? FetchError)
    }
}
