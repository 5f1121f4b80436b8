// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// "Efficiency awaits: Background tasks in SwiftUI", its fifth listing, as it stands there.

import BackgroundFoundation

func isStormy() async -> Bool {
    let config = URLSessionConfiguration.background(withIdentifier: "isStormy")
    config.sessionLaunchEvents = true
    let session = URLSession(configuration: config)

    let request = URLRequest(url: WEATHER_URL)

    let response = try? await session.data(for: request)

    if let data = response {
        return parseWeather(data)
    }
    return false
}
