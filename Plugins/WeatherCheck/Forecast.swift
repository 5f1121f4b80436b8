// SPDX-License-Identifier: Apache-2.0

import BackgroundFoundation
import BackgroundTasks
import FoundationEssentials

/// The forecast of Open-Meteo, as far as it was asked for.
///
/// Weather data by Open-Meteo.com, CC BY 4.0 (https://open-meteo.com/). Its terms ask for that to be
/// said.
struct Forecast: Decodable {
    static let session = "weather"
    static let attribution = "Weather data by Open-Meteo.com (CC BY 4.0)"

    struct Hourly: Decodable {
        /// Seconds since 1970.
        var time: [Int]
        /// WMO codes, one for each time; there are gaps in some models.
        var weather_code: [Int?]
    }

    var hourly: Hourly

    /// Asks for the next twelve hours.
    ///
    /// It is the daemon that asks, again and again for a quarter of an hour, so this run may end before
    /// there is an answer.
    static func current(_ settings: Settings) async throws -> Forecast {
        let configuration = URLSessionConfiguration.background(withIdentifier: session)
        configuration.sessionSendsLaunchEvents = true
        configuration.timeoutIntervalForResource = 15 * 60
        let session = URLSession(configuration: configuration)
        let (data, response) = try await session.data(for: request(settings))
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard status == 200 else {
            throw WeatherError(description: "it answers with HTTP status \(status)")
        }
        return try JSONDecoder().decode(Forecast.self, from: data)
    }

    private static func request(_ settings: Settings) throws -> URLRequest {
        guard let url = URL(string: settings.api) else {
            throw WeatherError(description: "`api` is not a URL: \(settings.api)")
        }
        var request = URLRequest(
            url: url.appending(queryItems: [
                URLQueryItem(name: "latitude", value: "\(settings.latitude)"),
                URLQueryItem(name: "longitude", value: "\(settings.longitude)"),
                URLQueryItem(name: "hourly", value: "weather_code"),
                URLQueryItem(name: "forecast_hours", value: "12"),
                URLQueryItem(name: "timeformat", value: "unixtime"),
            ])
        )
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.setValue("bghost/1.0 (sample weather-check)", forHTTPHeaderField: "User-Agent")
        return request
    }

    func firstStorm(of codes: Set<Int>) -> Storm? {
        for case (let time, let code?) in zip(hourly.time, hourly.weather_code)
        where codes.contains(code) {
            let start = Date(timeIntervalSince1970: Double(time))
            return Storm(start: start, attribution: Self.attribution)
        }
        return nil
    }
}
