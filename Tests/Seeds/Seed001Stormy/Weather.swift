// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

import BackgroundFoundation

func isStormy() async -> Bool {
    let config = URLSessionConfiguration.background(withIdentifier: "isStormy")
    config.sessionLaunchEvents = true
    let session = URLSession(configuration: config)

    let request = URLRequest(url: WEATHER_URL)

    let response = await withTaskCancellationHandler {
        try? await session.data(for: request)
    } onCancel: {
        let task = session.downloadTask(with: request)
        task.resume()
    }

    if let data = response {
        return parseWeather(data)
    }
    return false
}
