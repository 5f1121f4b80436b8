// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BackgroundTasksTesting
import FoundationEssentials
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct FetchTests {
    private let plugin: Plugin

    init() throws {
        let url = try #require(URL(string: "http://example.org:8080/a"))
        plugin = Plugin(id: "org.example.fetch", version: "1") {
            Handler("a") { context in
                let request = FetchRequest(
                    url,
                    method: "PUT",
                    headers: [("X-Kind", "a: b")],
                    body: .data(Data([1, 2])),
                    digest: true,
                    maximumBytes: 3,
                    timeout: .seconds(10)
                )
                do {
                    let response = try await context.fetch(request)
                    return ["\(response.status)", response.header("x-answer") ?? "-"]
                } catch let error as FetchError {
                    return ["\(error.code)", error.description]
                }
            }
        }
    }

    private func tasks(_ network: String) -> String {
        """
        {"version": 1,
         "plugins": {"p": {"library": "p.so", "permissions": {"network": [\(network)]}}},
         "tasks": {"t": {"plugin": "p", "handler": "a"}}}
        """
    }

    private func result(_ run: TestHost.Run?) throws -> [String] {
        try #require(run).result(as: [String].self)
    }

    @Test func `A fetch waits for its answer while the clock moves`() async throws {
        let host = try TestHost(plugin)
        try await host.submit("a")
        try await host.advance(by: .seconds(5))
        let fetch = try #require(host.fetches.first)
        #expect(fetch.identifier == "a")
        #expect(fetch.request.url.absoluteString == "http://example.org:8080/a")
        #expect(fetch.request.method == "PUT")
        #expect(fetch.request.headers.map(\.name) == ["X-Kind"])
        #expect(fetch.request.headers.map(\.value) == ["a: b"])
        guard case .data(Data([1, 2])) = fetch.request.body else {
            Issue.record("its body is \(String(describing: fetch.request.body))")
            return
        }
        #expect(fetch.request.digest)
        #expect(fetch.request.maximumBytes == 3)
        #expect(fetch.request.timeout == .seconds(10))
        let answer = FetchResponse(status: 201, headers: [("X-Answer", "yes")])
        try await host.answer(fetch, with: answer)
        #expect(try result(host.runs.first) == ["201", "yes"])
        #expect(host.runs.first?.duration == .seconds(5))
        #expect(host.fetches.isEmpty)
        let error = await #expect(throws: TestHostError.self) {
            try await host.answer(fetch, with: answer)
        }
        #expect(error?.code == .noSuchFetch)
    }

    @Test func `A fetch without an answer times out on the host's clock`() async throws {
        let host = try TestHost(plugin)
        try await host.submit("a")
        try await host.advance(by: .seconds(10))
        let found = try result(host.runs.first)
        #expect(found.first == "failed")
        #expect(found.last?.contains("did not end within its 10.0 seconds") == true)
    }

    @Test func `A responder answers new fetches, and those that wait when it is set`() async throws
    {
        let host = try TestHost(plugin)
        try await host.launch("a")
        let asked = Mutex<[String]>([])
        host.respond { request in
            asked.withLock { $0.append(request.method) }
            return FetchResponse(status: 204)
        }
        try await host.advance(by: .zero)
        #expect(host.runs.first?.outcome == .succeeded)
        #expect(try await result(host.launch("a")) == ["204", "-"])
        #expect(asked.withLock { $0 } == ["PUT", "PUT"])
        // This responder does not answer; a later one does.
        host.respond { _ in nil }
        #expect(try await host.launch("a").outcome == nil)
        host.respond { _ in FetchResponse(status: 500) }
        try await host.advance(by: .zero)
        #expect(try result(host.runs.last).first == "500")
    }

    struct Refused: Error, CustomStringConvertible { var description = "refused" }

    @Test(
        arguments: [
            (FetchError(.failed, "no route"), "failed", "no route"),
            (FetchError(.notPermitted, "never"), "notPermitted", "never"),
            (Refused(), "failed", "refused"),
        ] as [(any Error, String, String)]
    )
    func `A fetch fails with the error that the test sets`(
        error: any Error,
        code: String,
        reason: String
    ) async throws {
        let host = try TestHost(plugin)
        host.respond { _ in throw error }
        let found = try await result(host.launch("a"))
        #expect(found == [code, "http://example.org:8080/a: \(reason)"])
        guard let error = error as? FetchError else { return }
        host.respond { _ in nil }
        try await host.launch("a")
        try await host.fail(try #require(host.fetches.first), with: error)
        #expect(try result(host.runs.last).first == code)
    }

    @Test(arguments: [
        (#""example.org:8080""#, "200"), (#""*.example.org:8080""#, "notPermitted"),
        (#""example.org:80""#, "notPermitted"), ("", "notPermitted"),
    ])
    func `The manifest's permissions hold`(network: String, expected: String) async throws {
        let host = try TestHost(plugin, tasks: tasks(network))
        host.respond { _ in FetchResponse(status: 200) }
        #expect(try await result(host.launch("t")).first == expected)
    }

    @Test func `A response above maxBytes fails the fetch`() async throws {
        let host = try TestHost(plugin)
        host.respond { _ in FetchResponse(status: 200, body: Data([1, 2, 3, 4])) }
        #expect(try await result(host.launch("a")).first == "limitExceeded")
    }

    @Test func `A file that the plugin may not read is not sent`() async throws {
        let url = try #require(URL(string: "http://h/"))
        let plugin = Plugin(id: "org.example.file", version: "1") {
            Handler("a") { (context, file: [String: String]) in
                let path = file["path"] ?? context.dataDirectory.path + "/x"
                return try await context.fetch(FetchRequest(url, body: .file(path))).status
            }
        }
        let host = try TestHost(plugin, tasks: tasks(#""h:80""#))
        host.respond { _ in FetchResponse(status: 200) }
        #expect(try await host.launch("t").result == "200")
        let refused = try await host.launch("t", parameters: ["path": "/etc/passwd"])
        #expect(refused.message.contains("permissions.read"))
    }
}
