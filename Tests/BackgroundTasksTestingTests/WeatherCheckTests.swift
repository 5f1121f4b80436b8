// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BackgroundTasksTesting
import FoundationEssentials
import Testing

@testable import WeatherCheck

/// The sample plugin that looks for storms.
@Suite(.timeLimit(.minutes(1)))
struct WeatherCheckTests {
    private static let storm = #"{"hourly":{"time":[100,200,300],"weather_code":[3,null,96]}}"#

    private func host(config: String = "{}") throws -> TestHost {
        try TestHost(
            plugin,
            tasks: """
                {"version": 1,
                 "plugins": {
                    "weather": {
                        "library": "libWeatherCheck.so", "config": \(config),
                        "permissions": {
                            "network": ["api.open-meteo.com:443"], "submit": ["tell.*"]}},
                    "notifier": {"library": "libNotifier.so"}},
                 "tasks": {
                    "look": {
                        "plugin": "weather", "handler": "weather.check",
                        "retry": {"policy": "exponential", "base": "30s"},
                        "parameters": {"latitude": 52.5, "longitude": 13.25, "notify": "tell.me"}},
                    "tell.*": {"plugin": "notifier", "handler": "notifier.deliver"}}}
                """,
            as: "weather"
        )
    }

    private static func answer(_ status: Int, _ body: String) -> FetchResponse {
        FetchResponse(
            status: status,
            headers: [("retry-after", "7")],
            body: Data(body.utf8)
        )
    }

    @Test func `A storm is found and the notifier is asked`() async throws {
        let host = try host(config: #"{"storm codes":[96]}"#)
        try await host.submit("look")
        let fetch = try #require(host.fetches.first)
        let query =
            "?latitude=52.5&longitude=13.25&hourly=weather_code&forecast_hours=12"
            + "&timeformat=unixtime"
        #expect(
            fetch.request.url.absoluteString == "https://api.open-meteo.com/v1/forecast" + query
        )
        let agent = fetch.request.headers.first { $0.name == "User-Agent" }
        #expect(agent?.value.hasPrefix("bghost/1.0") == true)

        try await host.answer(fetch, with: Self.answer(200, Self.storm))
        let run = try #require(host.runs.first)
        #expect(run.outcome == .succeeded)
        #expect(run.result.contains(#""at":300,"#))
        #expect(run.result.contains(#""code":96,"storm":true}"#))
        #expect(run.result.contains("Weather data by Open-Meteo.com (CC BY 4.0)"))

        let submission = try #require(host.pending.first)
        #expect(submission.identifier == "tell.me")
        #expect(submission.parameters.contains(#""id":"storm-52.5-13.25-300""#))
        #expect(submission.parameters.contains("Thunderstorm from 1970-01-01T00:05:00Z"))
    }

    @Test func `Without a storm nobody is told`() async throws {
        let host = try host(config: #"{"storm codes":[95]}"#)
        host.respond { _ in Self.answer(200, Self.storm) }
        try await host.submit("look")
        #expect(host.runs.first?.result.contains(#""storm":false"#) == true)
        #expect(host.pending.isEmpty)
    }

    @Test(
        arguments: [
            (400, #"{"error":true,"reason":"bad latitude"}"#, "bad latitude"),
            (404, "nothing", "HTTP status 404"), (200, "<html>", "not Open-Meteo's"),
        ]
    )
    func `A forecast that is none fails`(
        status: Int,
        body: String,
        reason: String
    ) async throws {
        let host = try host()
        host.respond { _ in Self.answer(status, body) }
        try await host.submit("look")
        #expect(host.runs.first?.outcome == .failed)
        #expect(host.runs.first?.message.contains(reason) == true)
    }

    @Test(arguments: [429, 503])
    func `A server that is busy is asked again when it says so`(status: Int) async throws {
        let host = try host()
        host.respond { _ in Self.answer(status, "") }
        try await host.submit("look")
        #expect(host.runs.first?.outcome == .failed)
        #expect(host.runs.first?.message.contains("\(status)") == true)
        #expect(host.pending.first?.earliestBeginDate == host.now + 7)

        host.respond { _ in Self.answer(200, Self.storm) }
        try await host.advance(by: .seconds(7))
        #expect(host.runs.map(\.attempt) == [1, 2])
        #expect(host.runs.last?.outcome == .succeeded)
    }

    @Test func `A network that fails is tried again`() async throws {
        let host = try host()
        host.respond { _ in throw FetchError(.failed, "no route") }
        try await host.submit("look")
        #expect(host.runs.first?.message.contains("no route") == true)
        #expect(host.pending.map(\.attempt) == [2])
    }

    @Test func `A server that never answers is given up after 15 s`() async throws {
        let host = try host()
        try await host.submit("look")
        try await host.advance(by: .seconds(15))
        #expect(host.runs.first?.outcome == .failed)
        #expect(host.runs.first?.duration == .seconds(15))
    }

    @Test func `It stops when it is asked to`() async throws {
        let run = try await host().launchAndExpire("look")
        #expect(run.outcome == .cancelled)
    }
}
