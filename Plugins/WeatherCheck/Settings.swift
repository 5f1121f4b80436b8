// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// The plugin's `config` of `tasks.json`.
struct Settings: Decodable {
    var latitude: Double
    var longitude: Double
    /// The WMO codes that count as a storm.
    var stormCodes: Set<Int>
    /// The address of the forecast; Open-Meteo's own by default.
    var api: String
    /// The service to ask when Open-Meteo fails; `nil` for none.
    var fallback: MetNo?
    /// The task that uploads photos, which a tap on the suggestion asks for.
    var uploadTask: String?

    private enum CodingKeys: String, CodingKey {
        case latitude, longitude, api, fallback, uploadTask
        case stormCodes = "storm codes"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        latitude = try values.decode(Double.self, forKey: .latitude)
        longitude = try values.decode(Double.self, forKey: .longitude)
        stormCodes = try values.decodeIfPresent(Set<Int>.self, forKey: .stormCodes) ?? [95, 96, 99]
        api =
            try values.decodeIfPresent(String.self, forKey: .api)
            ?? "https://api.open-meteo.com/v1/forecast"
        fallback = try values.decodeIfPresent(MetNo.self, forKey: .fallback)
        uploadTask = try values.decodeIfPresent(String.self, forKey: .uploadTask)
    }
}

struct WeatherError: Error, CustomStringConvertible {
    let description: String
}
