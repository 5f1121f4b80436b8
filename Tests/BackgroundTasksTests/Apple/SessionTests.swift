// SPDX-License-Identifier: Apache-2.0

import BackgroundFoundation
import BackgroundTasks
import BackgroundTasksTesting
import FoundationEssentials
import Testing

/// Sessions in the foreground.
@Suite(.timeLimit(.minutes(5)))
struct SessionTests {
    private func host(
        _ body: @escaping @Sendable (TaskContext) async throws -> [String]
    ) throws -> TestHost {
        try TestHost(Plugin(id: "org.example.web", version: "1") { Handler("a", body) })
    }

    @Test func `A request goes out with the session's fields beneath its own`() async throws {
        let host = try host { _ in
            let configuration = URLSessionConfiguration.default
            configuration.httpAdditionalHeaders = ["User-Agent": "test", "Accept": "text/plain"]
            configuration.timeoutIntervalForRequest = 7
            var request = URLRequest(url: address("a"))
            request.httpMethod = "POST"
            request.setValue("application/json", forHTTPHeaderField: "accept")
            request.httpBody = Data("{}".utf8)
            let session = URLSession(configuration: configuration)
            // Later changes do not affect the session.
            configuration.httpAdditionalHeaders = nil
            let (data, response) = try await session.data(for: request)
            let http = response as? HTTPURLResponse
            return [
                String(decoding: data, as: UTF8.self), "\(http?.statusCode ?? 0)",
                http?.mimeType ?? "", http?.value(forHTTPHeaderField: "X-A") ?? "",
            ]
        }
        try await host.launch("a")
        let fetch = try #require(host.fetches.first)
        #expect(fetch.request.method == "POST")
        #expect(fetch.request.timeout == .seconds(7))
        let headers = fetch.request.headers.map { "\($0.name): \($0.value)" }
        #expect(headers == ["User-Agent: test", "accept: application/json"])
        guard case .data(Data("{}".utf8)) = fetch.request.body else {
            Issue.record("not the body: \(String(describing: fetch.request.body))")
            return
        }
        try await host.answer(
            fetch,
            with: FetchResponse(
                status: 404,
                headers: [("Content-Type", "text/plain; charset=utf-8"), ("x-a", "1")],
                body: Data("none".utf8)
            )
        )
        // Any status is an answer.
        let result = try #require(host.runs.first).result(as: [String].self)
        #expect(result == ["none", "404", "text/plain", "1"])
    }

    @Test func `A large body goes by a file, which is gone afterwards`() async throws {
        let host = try host { _ in
            var request = URLRequest(url: address("a"))
            request.httpMethod = "POST"
            request.httpBody = Data(repeating: 7, count: 100_000)
            _ = try await URLSession.shared.data(for: request)
            return []
        }
        try await host.launch("a")
        let fetch = try #require(host.fetches.first)
        guard case .file(let path) = fetch.request.body else {
            Issue.record("not a file: \(String(describing: fetch.request.body))")
            return
        }
        #expect(path.hasPrefix(host.dataDirectory.path))
        let sent = try Data(contentsOf: URL(filePath: path))
        #expect(sent == Data(repeating: 7, count: 100_000))
        try await host.answer(fetch, with: FetchResponse(status: 200))
        #expect(host.runs.first?.outcome == .succeeded)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `An upload sends a file, and the caller owns a downloaded one`() async throws {
        let host = try host { context in
            let photo = context.dataDirectory.appending(path: "photo")
            try Data("photo".utf8).write(to: photo)
            let request = URLRequest(url: address("photos"))
            let (receipt, _) = try await URLSession.shared.upload(for: request, fromFile: photo)
            let (file, _) = try await URLSession.shared.download(from: address("file"))
            defer { try? FileManager.default.removeItem(at: file) }
            return [
                String(decoding: receipt, as: UTF8.self),
                try String(contentsOf: file, encoding: .utf8),
            ]
        }
        host.respond { request in
            guard case .file = request.body, request.method == "PUT" else {
                return FetchResponse(status: 200, body: Data(request.method.utf8))
            }
            return FetchResponse(status: 201, body: Data("thanks".utf8))
        }
        try await host.launch("a")
        let result = try #require(host.runs.first).result(as: [String].self)
        #expect(result == ["thanks", "GET"])
    }

    @Test func `Tasks call back, or tell the delegate`() async throws {
        let events = Events()
        let host = try host { _ in
            await withCheckedContinuation { continuation in
                let task = URLSession.shared.dataTask(with: address("a")) { data, _, error in
                    events.note("called \(data?.count ?? -1) \(error == nil)")
                    continuation.resume()
                }
                task.resume()
            }
            let session = URLSession(
                configuration: .default,
                delegate: NotingDelegate(events),
                delegateQueue: nil
            )
            session.downloadTask(with: address("b")).resume()
            try await TaskContext.current?.sleep(for: .seconds(1))
            return []
        }
        host.respond { _ in FetchResponse(status: 200, body: Data("four".utf8)) }
        try await host.launch("a")
        try await host.advance(by: .seconds(2))
        #expect(host.runs.map(\.outcome) == [.succeeded])
        #expect(events.all == ["called 4 true", "file four of -", "end 200 well"])
    }

    @Test func `A request that is cut short by the run's end is cancelled, and so is the run`()
        async throws
    {
        let host = try host { _ in
            do {
                _ = try await URLSession.shared.data(from: address("a"))
                return ["answered"]
            } catch URLError.cancelled {
                throw URLError(.cancelled)
            }
        }
        #expect(try await host.launchAndExpire("a").outcome == .cancelled)
    }

    @Test func `The error of a refused request says what to do`() async throws {
        let plugin = Plugin(id: "org.example.web", version: "1") {
            Handler("a") { _ in _ = try await URLSession.shared.data(from: address("a")) }
            Handler("b") { _ in
                let session = URLSession(configuration: .background(withIdentifier: "s"))
                _ = try await session.data(from: address("a"))
            }
        }
        let host = try TestHost(
            plugin,
            tasks: """
                {"version": 1,
                 "plugins": {"web": {"library": "libWeb.so"}},
                 "tasks": {"a": {"plugin": "web", "handler": "a"},
                           "b": {"plugin": "web", "handler": "b"}}}
                """
        )
        for task in ["a", "b"] {
            let run = try await host.launch(task)
            #expect(run.outcome == .failed)
            #expect(run.message.contains("permissions.network"))
        }
        #expect(host.transfers.isEmpty)
    }
}
