// SPDX-License-Identifier: Apache-2.0
import BackgroundTasks
import BackgroundTasksTesting
import FoundationEssentials
import Testing

struct Source: Codable { var page: URL }

let news = Plugin(id: "org.example.news", version: "1.0.0") {
    Handler("news.refresh") { (context, source: Source) in
        let answer = try await context.fetch(FetchRequest(source.page))
        if answer.isTemporaryFailure { throw RetryLater("the server answers \(answer.status)") }
        let next = BGAppRefreshTaskRequest(identifier: context.taskIdentifier)
        next.earliestBeginDate = context.now + 3600
        try await context.submit(next)
        return answer.body.count
    }
}

struct NewsTests {
    let host: TestHost

    init() throws {
        let tasks = """
            {"version": 1,
             "plugins": {"news": {
                "library": "libNews.so", "permissions": {"network": ["example.org:443"]}}},
             "tasks": {"org.example.news": {
                "plugin": "news", "handler": "news.refresh", "requires": {"network": true},
                "parameters": {"page": "https://example.org/news"}}}}
            """
        host = try TestHost(news, tasks: tasks, now: "2026-11-21T09:00:00Z")
    }

    @Test func `The handler runs each hour once there is a network`() async throws {
        host.respond { _ in FetchResponse(status: 200, body: Data("news".utf8)) }
        host.set(.network, to: false)
        try await host.submit("org.example.news")
        try await host.advance(by: .seconds(7200))
        #expect(host.runs.isEmpty)

        host.set(.network, to: true)
        try await host.advance(by: .seconds(3600))  // through all that happens meanwhile
        #expect(host.runs.map(\.outcome) == [.succeeded, .succeeded])
        #expect(host.runs.first?.result == "4")
        #expect(host.pending.first?.earliestBeginDate == host.now + 3600)
    }

    @Test func `The handler stops when it is cancelled`() async throws {
        let run = try await host.launchAndExpire("org.example.news")  // its fetch gets no answer
        #expect(run.outcome == .cancelled)
    }
}
