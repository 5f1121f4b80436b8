// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// The simulated weather: clouds and rain, and a thunderstorm some hours later.
///
/// The format is that of Open-Meteo's `/v1/forecast`.
struct Forecast: Encodable {
    /// The WMO code of a thunderstorm without hail.
    static let thunderstorm = 95
    /// The hours of the storm, counted from the current hour.
    static let stormHours = 3...4

    struct Units: Encodable {
        var time: String
        var weather_code = "wmo code"
    }

    /// Times are either all numbers or all texts.
    enum Times: Encodable {
        case unix([Int])
        case iso8601([String])

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .unix(let seconds): try container.encode(seconds)
            case .iso8601(let text): try container.encode(text)
            }
        }
    }

    struct Hourly: Encodable {
        var time: Times
        var weather_code: [Int]
    }

    var latitude: Double
    var longitude: Double
    var generationtime_ms = 0.0
    var utc_offset_seconds = 0
    var timezone = "GMT"
    var timezone_abbreviation = "GMT"
    var elevation = 38.0
    var hourly_units: Units?
    var hourly: Hourly?

    /// - Parameter now: the time of the request, which determines the time of the storm.
    init(query: ForecastQuery, now: Date) {
        latitude = query.latitude
        longitude = query.longitude
        guard query.wantsWeatherCode else { return }

        let running = Int(now.timeIntervalSince1970.rounded(.down)) / 3600 * 3600
        let midnight = running / 86_400 * 86_400
        let first = query.forecastHours == nil ? midnight : running
        let hours = query.forecastHours ?? query.forecastDays * 24
        let times = (0..<hours).map { first + $0 * 3600 }
        hourly_units = Units(time: query.unixTime ? "unixtime" : "iso8601")
        hourly = Hourly(
            time: query.unixTime ? .unix(times) : .iso8601(times.map(Self.minuteText)),
            weather_code: times.map { Self.code(hoursAhead: ($0 - running) / 3600) }
        )
    }

    var stormHours: Int { hourly?.weather_code.count { $0 == Self.thunderstorm } ?? 0 }
    var hours: Int { hourly?.weather_code.count ?? 0 }

    /// The weather code: overcast, with showers before and after the storm.
    private static func code(hoursAhead: Int) -> Int {
        if stormHours.contains(hoursAhead) { return thunderstorm }
        return (stormHours.lowerBound - 1...stormHours.upperBound + 1).contains(hoursAhead) ? 81 : 3
    }

    /// Formats a time like Open-Meteo, without seconds and zone: `2026-11-21T14:00`.
    private static func minuteText(_ seconds: Int) -> String {
        let full = Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
        return String(full.prefix(16))
    }
}
