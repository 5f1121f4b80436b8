// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// "Efficiency awaits: Background tasks in SwiftUI", its first listing, as it stands there.

import BackgroundTasks
import SwiftUI

struct StormyApp: App {
    var body: some Scene {
        WindowGroup {
            ContentView()
        }
    }
}

func scheduleAppRefresh() {
    let today = Calendar.current.startOfDay(for: .now)
    let tomorrow = Calendar.current.date(byAdding: .day, value: 1, to: today)!
    let noonComponent = DateComponents(hour: 12)
    let noon = Calendar.current.date(byAdding: noonComponent, to: tomorrow)

    let request = BGAppRefreshTaskRequest(identifier: "StormyNoon")
    request.earliestBeginDate = noon
    try? BGTaskScheduler.shared.submit(request)
}
