// SPDX-License-Identifier: Apache-2.0

import BackgroundFoundation
import BackgroundTasks
import FoundationEssentials

/// The forecast of MET Norway, for when Open-Meteo does not answer.
///
/// Weather data by MET Norway, CC BY 4.0. Its terms (https://api.met.no/doc/TermsOfService) ask for a
/// User-Agent that says whom to write to, and for no more than four decimals.
struct MetNo: Decodable {
    static let attribution = "Weather data by MET Norway (CC BY 4.0)"

    /// The address of the forecast; MET Norway's own by default.
    var api: String?
    /// Whom to write to about too many requests: an address of mail or the web.
    var contact: String

    /// Looks for the first thunderstorm of the next twelve hours, in the foreground: it is asked when
    /// there has been enough waiting.
    func nextStorm(_ settings: Settings) async throws -> Storm? {
        let api = api ?? "https://api.met.no/weatherapi/locationforecast/2.0/compact"
        guard let url = URL(string: api) else {
            throw WeatherError(description: "`fallback.api` is not a URL: \(api)")
        }
        var request = URLRequest(
            url: url.appending(queryItems: [
                URLQueryItem(name: "lat", value: Self.decimals(settings.latitude)),
                URLQueryItem(name: "lon", value: Self.decimals(settings.longitude)),
            ]),
            timeoutInterval: 15
        )
        request.setValue(
            "bghost/1.0 (sample weather-check; \(contact))",
            forHTTPHeaderField: "User-Agent"
        )
        let (data, response) = try await URLSession.shared.data(for: request)
        guard let answer = response as? HTTPURLResponse, answer.statusCode == 200 else {
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            throw RetryLater("MET Norway answers \(status) too")
        }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        do {
            let now = TaskContext.current?.now ?? .now
            let start = try decoder.decode(Answer.self, from: data).storm(from: now)
            return start.map { Storm(start: $0, attribution: Self.attribution) }
        } catch {
            throw WeatherError(description: "the forecast is not MET Norway's: \(error)")
        }
    }

    private static func decimals(_ degrees: Double) -> String {
        "\((degrees * 10_000).rounded() / 10_000)"
    }

    /// What is answered, as far as it is wanted.
    private struct Answer: Decodable {
        var properties: Properties

        struct Properties: Decodable { var timeseries: [Time] }

        struct Time: Decodable {
            var time: Date
            var data: Details
        }

        struct Details: Decodable { var next_1_hours: Hour? }

        struct Hour: Decodable { var summary: Summary }

        struct Summary: Decodable {
            /// Such as `rainandthunder`.
            var symbol_code: String
        }

        func storm(from now: Date) -> Date? {
            let hours = (now - 3600)..<(now + 12 * 3600)
            let storm = properties.timeseries.first { time in
                hours.contains(time.time)
                    && time.data.next_1_hours?.summary.symbol_code.contains("thunder") == true
            }
            return storm?.time
        }
    }
}
