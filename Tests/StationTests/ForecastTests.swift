// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdTesting
import NIOCore
import StormyStation
import Testing

@Suite struct ForecastTests {
    static let place = "latitude=52.52&longitude=13.41"

    struct UnixForecast: Decodable {
        struct Units: Decodable {
            var time: String
            var weather_code: String
        }
        struct Hourly: Decodable {
            var time: [Int]
            var weather_code: [Int]
        }
        var latitude: Double
        var longitude: Double
        var generationtime_ms: Double
        var utc_offset_seconds: Int
        var timezone: String
        var timezone_abbreviation: String
        var elevation: Double
        var hourly_units: Units?
        var hourly: Hourly?
    }

    struct TextForecast: Decodable {
        struct Hourly: Decodable {
            var time: [String]
            var weather_code: [Int]
        }
        var hourly: Hourly
    }

    struct Refusal: Decodable {
        var error: Bool
        var reason: String
    }

    @Test func `Answers as Open-Meteo does`() async throws {
        let station = StationFixture()
        let response = try await station.send(
            .get,
            "/v1/forecast?\(Self.place)&hourly=weather_code&forecast_hours=6&timeformat=unixtime",
            fields: ["User-Agent": "storm/1"]
        )
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "application/json; charset=utf-8")
        let forecast: UnixForecast = try response.json()
        #expect(forecast.latitude == 52.52)
        #expect(forecast.longitude == 13.41)
        #expect(forecast.timezone == "GMT")
        #expect(forecast.timezone_abbreviation == "GMT")
        #expect(forecast.utc_offset_seconds == 0)
        #expect(forecast.hourly_units?.time == "unixtime")
        #expect(forecast.hourly_units?.weather_code == "wmo code")
        // From the running hour on: 14:00 UTC.
        let hour = 1_795_269_600
        #expect(forecast.hourly?.time == (0..<6).map { hour + $0 * 3600 })
        #expect(forecast.hourly?.weather_code == [3, 3, 81, 95, 95, 81])

        let entry = ForecastEntry(
            at: StationFixture.now,
            latitude: 52.52,
            longitude: 13.41,
            hours: 6,
            stormHours: 2,
            userAgent: "storm/1",
            bytes: response.body.readableBytes,
            bytesSent: response.body.readableBytes,
            completeAt: StationFixture.now
        )
        #expect(station.record.forecasts == [entry])
    }

    @Test func `Writes times as text unless asked otherwise`() async throws {
        let response = try await StationFixture().send(
            .get,
            "/v1/forecast?\(Self.place)&hourly=weather_code&forecast_days=1"
        )
        let hourly = try response.json(TextForecast.self).hourly
        #expect(hourly.time.count == 24)
        #expect(hourly.time.first == "2026-11-21T00:00")
        #expect(hourly.time.last == "2026-11-21T23:00")
        // Reckoned from the running hour, not from midnight.
        #expect(hourly.weather_code.firstIndex(of: 95) == 17)
    }

    @Test func `Omits fields that were not requested`() async throws {
        let station = StationFixture()
        let response = try await station.send(.get, "/v1/forecast?\(Self.place)")
        let forecast: UnixForecast = try response.json()
        #expect(forecast.hourly == nil)
        #expect(forecast.hourly_units == nil)
        #expect(station.record.forecasts.first?.stormHours == 0)
    }

    @Test(arguments: [
        ("longitude=13.41", "Value of type 'Float' required for key 'latitude'."),
        ("latitude=52.52", "Value of type 'Float' required for key 'longitude'."),
        ("latitude=x&longitude=1", "Given: x."),
        ("latitude=nan&longitude=1", "Given: nan."),
        ("latitude=90.5&longitude=1", "Latitude must be in range of -90 to 90°. Given: 90.5."),
        ("latitude=1&longitude=-181", "Longitude must be in range of -180 to 180°."),
        ("\(place)&timeformat=stardate", "'timeformat'"),
        ("\(place)&timezone=Europe/Berlin", "'timezone'"),
        ("\(place)&hourly=weather_code,snow", "'snow'"),
        ("\(place)&forecast_hours=-1", "'forecast_hours'"),
        ("\(place)&forecast_hours=385", "'forecast_hours'"),
        ("\(place)&forecast_days=99999999999999999999", "'forecast_days'"),
    ])
    func `Refuses with a reason`(query: String, reason: String) async throws {
        let station = StationFixture()
        let response = try await station.send(.get, "/v1/forecast?\(query)")
        #expect(response.status == .badRequest)
        let refusal: Refusal = try response.json()
        #expect(refusal.error)
        #expect(refusal.reason.contains(reason), "\(refusal.reason)")
        #expect(station.record.forecasts.isEmpty)
        #expect(station.record.refused == 1)
    }

    @Test(arguments: [
        "forecast_hours=0", "forecast_hours=384", "timezone=UTC", "hourly=weathercode",
    ])
    func `Takes the nearest allowed`(parameter: String) async throws {
        let response = try await StationFixture().send(
            .get,
            "/v1/forecast?\(Self.place)&\(parameter)"
        )
        #expect(response.status == .ok)
    }
}
