// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// "Efficiency awaits: Background tasks in SwiftUI", its fourth listing, as it stands there.

import SwiftUI

struct StormyApp: App {
    var body: some Scene {
        WindowGroup {
            ContentView()
        }
        .backgroundTask(.appRefresh("StormyNoon")) {
            scheduleAppRefresh()
            if await isStormy() {
                await notifyForPhoto()
            }
        }
    }
}

func isStormy() async -> Bool {
    let session = URLSession.shared

    let request = URLRequest(url: WEATHER_URL)

    let response = try? await session.data(for: request)

    if let data = response {
        return parseWeather(data)
    }
    return false
}
