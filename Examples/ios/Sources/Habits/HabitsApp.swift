// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import SwiftUI
import UserNotifications

@main
struct HabitsApp: App {
    @UIApplicationDelegateAdaptor(AppDelegate.self) private var appDelegate
    @Environment(\.scenePhase) private var scenePhase

    var body: some Scene {
        WindowGroup {
            HabitList()
        }
        .onChange(of: scenePhase) {
            guard scenePhase == .background else { return }
            DayChange.schedule()
        }
        .backgroundTask(.appRefresh(DayChange.identifier)) {
            DayChange.schedule()
            await DayChange.run()
        }
    }
}

/// The screen, of which nothing is shown here.
struct HabitList {}

final class AppDelegate: NSObject, UIApplicationDelegate, UNUserNotificationCenterDelegate {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        let done = UNNotificationAction(identifier: "done", title: "Done", options: [])
        let category = UNNotificationCategory(
            identifier: "reminder",
            actions: [done],
            intentIdentifiers: []
        )
        UNUserNotificationCenter.current().setNotificationCategories([category])
        UNUserNotificationCenter.current().delegate = self
        return true
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        didReceive response: UNNotificationResponse
    ) async {
        guard response.actionIdentifier == "done",
            let name = response.notification.request.content.userInfo["habit"] as? String
        else { return }
        HabitStore.complete(name)
        print("\(name) is done")
    }
}
