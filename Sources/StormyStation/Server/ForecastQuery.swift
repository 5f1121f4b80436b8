// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// The checked query of `/v1/forecast`.
struct ForecastQuery: Equatable {
    /// Open-Meteo has the same limit, 16 days.
    static let daysMax = 16

    var latitude: Double
    var longitude: Double
    var wantsWeatherCode = false
    var unixTime = false
    /// The number of hours from the current one; `nil` means whole days from midnight.
    var forecastHours: Int?
    var forecastDays = 7

    /// - Parameter value: returns the value of a query parameter, or `nil` if it is missing.
    init(_ value: (String) -> String?) throws(StationError) {
        latitude = try Self.coordinate("latitude", value("latitude"), within: 90)
        longitude = try Self.coordinate("longitude", value("longitude"), within: 180)
        switch value("timeformat") {
        case nil, "iso8601": break
        case "unixtime": unixTime = true
        case let other?: throw Self.unknown(other, for: "timeformat", use: "iso8601 or unixtime")
        }
        switch value("timezone") {
        case nil, "GMT", "UTC": break
        case let other?: throw Self.unknown(other, for: "timezone", use: "GMT")
        }
        for variable in (value("hourly") ?? "").split(separator: ",") {
            guard variable == "weather_code" || variable == "weathercode" else {
                throw Self.unknown(String(variable), for: "hourly", use: "weather_code")
            }
            wantsWeatherCode = true
        }
        if let text = value("forecast_hours") {
            forecastHours = try Self.count("forecast_hours", text, max: Self.daysMax * 24)
        }
        if let text = value("forecast_days") {
            forecastDays = try Self.count("forecast_days", text, max: Self.daysMax)
        }
    }

    private static func coordinate(
        _ name: String,
        _ text: String?,
        within bound: Double
    ) throws(StationError) -> Double {
        guard let text else {
            throw refusal("Value of type 'Float' required for key '\(name)'.")
        }
        guard let value = Double(text), value.isFinite else {
            throw refusal("Value of type 'Float' required for key '\(name)'. Given: \(text).")
        }
        guard abs(value) <= bound else {
            let limit = Int(bound)
            throw refusal(
                "\(name.prefix(1).uppercased() + name.dropFirst()) must be in range of "
                    + "-\(limit) to \(limit)°. Given: \(value)."
            )
        }
        return value
    }

    private static func count(
        _ name: String,
        _ text: String,
        max: Int
    ) throws(StationError) -> Int {
        guard let value = Int(text), (0...max).contains(value) else {
            throw refusal(
                "Parameter '\(name)' is out of allowed range from 0 to \(max). Given: \(text)."
            )
        }
        return value
    }

    private static func unknown(
        _ value: String,
        for name: String,
        use hint: String
    ) -> StationError {
        refusal("Invalid value '\(value)' for parameter '\(name)': this station has \(hint).")
    }

    private static func refusal(_ reason: String) -> StationError {
        StationError(.badRequest, .openMeteo, reason)
    }
}
