// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Hummingbird

/// `GET /v1/forecast`, as Open-Meteo answers it.
struct ForecastRoute {
    let recorder: Recorder
    let now: @Sendable () -> Date

    func get(_ request: Request) throws -> Response {
        let begun = ContinuousClock.now
        let parameters = request.uri.queryParameters
        let query = try ForecastQuery { parameters[Substring($0)].map(String.init) }
        let at = now()
        var forecast = Forecast(query: query, now: at)
        forecast.generationtime_ms = (ContinuousClock.now - begun) / .milliseconds(1)
        recorder.add(
            ForecastEntry(
                at: at,
                latitude: query.latitude,
                longitude: query.longitude,
                hours: forecast.hours,
                stormHours: forecast.stormHours,
                userAgent: request.userAgent
            )
        )
        return try .json(forecast)
    }
}
