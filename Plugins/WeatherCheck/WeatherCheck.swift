// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials

/// Looks for a thunderstorm in the next twelve hours, and has the user told if one is coming.
///
/// Weather data by Open-Meteo.com, CC BY 4.0 (https://open-meteo.com/).
let plugin = Plugin(
    id: "org.bghost.sample.weather-check",
    version: "1.0.0",
    vendor: "bghost samples"
) {
    Handler("weather.check", WeatherCheck.self)
}

/// Where the host comes in.
@c(bghost_plugin_v1)
public func entry(_ host: HostTable?) -> PluginTable? { plugin.table(for: host) }

struct WeatherCheck: TaskHandler {
    static let attribution = "Weather data by Open-Meteo.com (CC BY 4.0)"

    /// The address of the forecast; Open-Meteo's own by default.
    var api: String?
    var latitude: Double
    var longitude: Double
    /// The task that tells the user; nobody is told without one.
    var notify: String?

    struct Result: Encodable {
        var storm: Bool
        /// The WMO code of the storm.
        var code: Int?
        /// Seconds since 1970 at which its hour begins.
        var at: Int?
        var attribution = WeatherCheck.attribution
    }

    func run(_ context: TaskContext) async throws -> Result {
        let settings: Settings = try context.configuration()
        let forecast = try await forecast(context)
        guard let storm = forecast.first(of: settings.stormCodes) else {
            context.log(.info, "no storm in the next hours")
            return Result(storm: false)
        }
        context.log(.info, "a storm is coming: WMO code \(storm.code) at \(storm.time)")
        if let notify {
            try await context.submit(notify, parameters: Notification(storm, latitude, longitude))
        }
        return Result(storm: true, code: storm.code, at: storm.time)
    }

    private func forecast(_ context: TaskContext) async throws -> Forecast {
        let request = FetchRequest(
            try address(),
            headers: [
                ("Accept", "application/json"),
                ("User-Agent", "bghost/1.0 (sample weather-check)"),
            ],
            timeout: .seconds(15)
        )
        let response: FetchResponse
        do {
            response = try await context.fetch(request)
        } catch let error as FetchError where error.code == .failed {
            throw RetryLater(error.description)
        }
        if response.isTemporaryFailure {
            throw RetryLater(after: response.retryAfter, "the forecast answers \(response.status)")
        }
        guard response.status == 200 else {
            let refusal = try? JSONDecoder().decode(Refusal.self, from: response.body)
            let reason = refusal?.reason ?? "HTTP status \(response.status)"
            throw WeatherError(description: "the forecast was refused: \(reason)")
        }
        do {
            return try JSONDecoder().decode(Forecast.self, from: response.body)
        } catch {
            throw WeatherError(description: "the forecast is not Open-Meteo's: \(error)")
        }
    }

    private func address() throws -> URL {
        let api = api ?? "https://api.open-meteo.com/v1/forecast"
        guard let url = URL(string: api) else {
            throw WeatherError(description: "`api` is not a URL: \(api)")
        }
        return url.appending(queryItems: [
            URLQueryItem(name: "latitude", value: "\(latitude)"),
            URLQueryItem(name: "longitude", value: "\(longitude)"),
            URLQueryItem(name: "hourly", value: "weather_code"),
            URLQueryItem(name: "forecast_hours", value: "12"),
            URLQueryItem(name: "timeformat", value: "unixtime"),
        ])
    }
}

/// The plugin's `config` of `tasks.json`.
struct Settings: Decodable {
    /// The WMO codes that count as a storm.
    var stormCodes: Set<Int>

    enum CodingKeys: String, CodingKey { case stormCodes = "storm codes" }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        stormCodes = try values.decodeIfPresent(Set<Int>.self, forKey: .stormCodes) ?? [95, 96, 99]
    }
}

/// What Open-Meteo answers, as far as it was asked for.
struct Forecast: Decodable {
    var hourly: Hourly

    struct Hourly: Decodable {
        /// Seconds since 1970.
        var time: [Int]
        /// WMO codes, one for each time; there are gaps in some models.
        var weather_code: [Int?]
    }

    func first(of codes: Set<Int>) -> (time: Int, code: Int)? {
        for case (let time, let code?) in zip(hourly.time, hourly.weather_code)
        where codes.contains(code) {
            return (time, code)
        }
        return nil
    }
}

/// What Open-Meteo answers to a request that it does not take.
struct Refusal: Decodable {
    var reason: String
}

/// What the notifier is to deliver.
struct Notification: Encodable {
    var title = "A storm is coming"
    var message: String
    var tags = ["thunder_cloud_and_rain"]
    /// The same for the same storm, so that it is announced once however often it is seen.
    var id: String

    init(_ storm: (time: Int, code: Int), _ latitude: Double, _ longitude: Double) {
        let hour = Date(timeIntervalSince1970: Double(storm.time)).formatted(.iso8601)
        message = "Take a photo of the sky! Thunderstorm from \(hour). \(WeatherCheck.attribution)"
        id = "storm-\(latitude)-\(longitude)-\(storm.time)"
    }
}

struct WeatherError: Error, CustomStringConvertible {
    let description: String
}
