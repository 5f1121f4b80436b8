// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// "Efficiency awaits: Background tasks in SwiftUI", its third listing, as it stands there.

import SwiftUI
import UserNotifications

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

func notifyForPhoto() async {
    let notificationRequest = photoUploadNotification()
    do {
        try await UNUserNotificationCenter.current().add(notificationRequest)
    } catch {
        print("Notification failed with error: \(String(describing: error))")
    }
}
