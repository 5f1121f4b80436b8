// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BackgroundTasksTesting
import FoundationEssentials
import Testing

@testable import WeatherCheck

/// The sample plugin that looks for storms.
@Suite(.timeLimit(.minutes(5)))
struct WeatherCheckTests {
    private static let noon = "com.example.stormy.noon"
    private static let storm = #"{"hourly":{"time":[100,200,300],"weather_code":[3,null,96]}}"#
    private static let asked =
        "https://api.open-meteo.com/v1/forecast?latitude=52.51999&longitude=13.25"
        + "&hourly=weather_code&forecast_hours=12&timeformat=unixtime"

    private func host(_ config: String = "") throws -> TestHost {
        try TestHost(
            plugin,
            tasks: """
                {"version": 1,
                 "plugins": {
                    "weather": {
                        "library": "libWeatherCheck.so",
                        "config": {"latitude": 52.51999, "longitude": 13.25,
                                   "uploadTask": "photos"\(config)},
                        "permissions": {
                            "network": ["api.open-meteo.com:443", "api.met.no:443"],
                            "notify": true, "submit": ["photos"]}},
                    "uploader": {"library": "libPhotoUpload.so"}},
                 "sessions": {"weather": {"plugin": "weather"}},
                 "tasks": {
                    "\(Self.noon)": {"plugin": "weather"},
                    "photos": {"plugin": "uploader", "kind": "processing"}}}
                """,
            as: "weather",
            now: "2026-11-21T12:00:00Z"
        )
    }

    private static func answer(_ status: Int, _ body: String) -> FetchResponse {
        FetchResponse(status: status, body: Data(body.utf8))
    }

    @Test func `The handler first requests the next noon, then downloads the forecast`()
        async throws
    {
        let host = try host()
        try await host.submit(Self.noon)
        #expect(host.pending.map(\.identifier) == [Self.noon])
        #expect(host.pending.first?.earliestBeginDate == host.now + 86_400)
        let transfer = try #require(host.transfers.first)
        #expect(transfer.session == "weather")
        #expect(transfer.isAwaited)
        #expect(transfer.request.url.absoluteString == Self.asked)
        let agent = transfer.request.headers.first { $0.name == "User-Agent" }
        #expect(agent?.value.hasPrefix("bghost/1.0") == true)

        try await host.answer(transfer, with: Self.answer(200, Self.storm))
        #expect(host.runs.map(\.outcome) == [.succeeded])
        let notification = try #require(host.notifications.first)
        #expect(notification.identifier == "storm-52.51999-13.25-300")
        #expect(notification.title == "A storm is coming")
        #expect(
            notification.body == "Take a photo of the sky! Thunderstorm from 1970-01-01T00:05:00Z."
                + " Weather data by Open-Meteo.com (CC BY 4.0)"
        )
        #expect(notification.actions == #"[{"id":"upload","title":"Upload my photo"}]"#)
        #expect(notification.userInfo == #"{"tags":["thunder_cloud_and_rain"]}"#)
    }

    @Test func `The request outlives its run, and its answer wakes the plugin`() async throws {
        let host = try host()
        try await host.submit(Self.noon)
        try await host.advance(by: .seconds(26))
        #expect(host.runs.map(\.outcome) == [.succeeded])
        #expect(host.runs.first?.stopReason == .expired)
        #expect(host.notifications.isEmpty)
        let transfer = try #require(host.transfers.first)
        #expect(!transfer.isAwaited && !transfer.hasEnded)

        try await host.answer(transfer, with: Self.answer(200, Self.storm))
        #expect(host.runs.map(\.handler) == [Self.noon, "urlSession.weather"])
        #expect(host.runs.last?.outcome == .succeeded)
        #expect(host.notifications.map(\.identifier) == ["storm-52.51999-13.25-300"])
        // Nothing was asked for a second time, and the wake does not ask for another noon.
        #expect(host.transfers.isEmpty && host.fetches.isEmpty)
        #expect(host.pending.count == 1)
    }

    @Test func `A tap has the photos uploaded`() async throws {
        let host = try host()
        host.respond { _ in Self.answer(200, Self.storm) }
        try await host.submit(Self.noon)
        let id = try #require(host.notifications.first?.identifier)
        for action in ["upload", "default"] {
            #expect(try await host.act(action, on: id).outcome == .succeeded)
            #expect(host.pending.map(\.identifier) == [Self.noon, "photos"])
            #expect(host.pending.last?.earliestBeginDate == nil)
            #expect(host.cancel(taskRequestWithIdentifier: "photos"))
        }
    }

    @Test(arguments: ["[95]", "[]"])
    func `Without a storm the handler posts no notification`(codes: String) async throws {
        let host = try host(#", "storm codes": \#(codes)"#)
        host.respond { _ in Self.answer(200, Self.storm) }
        try await host.submit(Self.noon)
        #expect(host.runs.map(\.outcome) == [.succeeded])
        #expect(host.logs.map(\.message) == ["no storm in the next hours"])
        #expect(host.notifications.isEmpty)
    }

    private static let bad = [
        (404, "nothing", "HTTP status 404"), (503, "", "HTTP status 503"),
        (200, "<html>", "forecast"), (200, #"{"hourly":{"time":[1]}}"#, "weather_code"),
    ]

    @Test(arguments: bad)
    func `An invalid forecast fails its run`(
        status: Int,
        body: String,
        reason: String
    ) async throws {
        let host = try host()
        host.respond { _ in Self.answer(status, body) }
        try await host.submit(Self.noon)
        #expect(host.runs.first?.outcome == .failed)
        #expect(host.logs.first?.message.hasPrefix("Open-Meteo has no forecast: ") == true)
        #expect(host.logs.first?.message.contains(reason) == true, "\(host.logs)")
    }

    /// Otherwise the session would get the same ends for a week.
    @Test(arguments: bad)
    func `An invalid forecast ends its wake`(
        status: Int,
        body: String,
        reason: String
    ) async throws {
        let host = try host()
        try await host.submit(Self.noon)
        try await host.advance(by: .seconds(26))
        try await host.answer(
            try #require(host.transfers.first),
            with: Self.answer(status, body)
        )
        #expect(host.runs.map(\.outcome) == [.succeeded, .succeeded])
        #expect(host.logs.last?.message.contains(reason) == true, "\(host.logs)")
        #expect(host.transfers.isEmpty && host.notifications.isEmpty)
    }

    // MARK: MET Norway

    private static let contact = #", "fallback": {"contact": "me@example.org"}"#
    private static let metNorway: String = {
        let hour = #"{"next_1_hours": {"summary": {"symbol_code": "heavyrainandthunder_day"}}}"#
        return """
            {"properties": {"timeseries": [
                {"time": "2026-11-21T10:00:00Z", "data": \(hour)},
                {"time": "2026-11-21T13:00:00Z", "data": {}},
                {"time": "2026-11-21T14:00:00Z", "data": \(hour)}]}}
            """
    }()

    @Test func `If Open-Meteo fails, the handler asks MET Norway`() async throws {
        let host = try host(Self.contact)
        try await host.submit(Self.noon)
        try await host.answer(try #require(host.transfers.first), with: Self.answer(503, ""))
        let fetch = try #require(host.fetches.first)
        #expect(
            fetch.request.url.absoluteString
                == "https://api.met.no/weatherapi/locationforecast/2.0/compact?lat=52.52&lon=13.25"
        )
        let agent = fetch.request.headers.first { $0.name == "User-Agent" }
        #expect(agent?.value.contains("me@example.org") == true)
        try await host.answer(fetch, with: Self.answer(200, Self.metNorway))
        #expect(host.runs.map(\.outcome) == [.succeeded])
        // The handler skips past hours, and hours without a forecast.
        let body = try #require(host.notifications.first?.body)
        #expect(body.contains("from 2026-11-21T14:00:00Z"))
        #expect(body.hasSuffix("Weather data by MET Norway (CC BY 4.0)"))
    }

    @Test func `A wake is repeated until MET Norway answers`() async throws {
        let host = try host(Self.contact)
        try await host.submit(Self.noon)
        try await host.advance(by: .seconds(26))
        try await host.fail(
            try #require(host.transfers.first),
            with: FetchError(.failed, "no route")
        )
        try await host.answer(try #require(host.fetches.first), with: Self.answer(500, ""))
        #expect(host.runs.map(\.outcome) == [.succeeded, .failed])
        #expect(host.runs.last?.message == "MET Norway answers 500 too")
        try await host.advance(by: .seconds(60))
        try await host.answer(
            try #require(host.fetches.first),
            with: Self.answer(200, Self.metNorway)
        )
        #expect(host.runs.map(\.outcome) == [.succeeded, .failed, .succeeded])
        #expect(host.notifications.count == 1)
        #expect(host.transfers.isEmpty)
    }
}
