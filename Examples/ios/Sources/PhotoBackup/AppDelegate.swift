// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import UIKit
import UserNotifications

@main
class AppDelegate: UIResponder, UIApplicationDelegate, UNUserNotificationCenterDelegate {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let scheduler = BGTaskScheduler.shared
        scheduler.register(forTaskWithIdentifier: NightlyBackup.identifier, using: nil) { task in
            if let task = task as? BGProcessingTask { NightlyBackup.run(task) }
        }
        scheduler.register(forTaskWithIdentifier: ManualBackup.identifier, using: nil) { task in
            if let task = task as? BGContinuedProcessingTask { ManualBackup.run(task) }
        }
        let center = UNUserNotificationCenter.current()
        center.delegate = self
        center.setNotificationCategories([
            UNNotificationCategory(
                identifier: "waiting",
                actions: [
                    UNNotificationAction(identifier: "now", title: "Back Up Now", options: [])
                ],
                intentIdentifiers: [],
                options: []
            )
        ])
        return true
    }

    func applicationDidEnterBackground(_ application: UIApplication) {
        NightlyBackup.schedule()
        remindOfWaitingPhotos()
    }

    func application(
        _ application: UIApplication,
        handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) {
        Uploads.shared.activate(completionHandler)
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        if response.actionIdentifier == "now" { ManualBackup.begin() }
        completionHandler()
    }

    private func remindOfWaitingPhotos() {
        let count = PhotoLibrary.waiting.count
        guard count > 0 else { return }
        let content = UNMutableNotificationContent()
        content.title = "\(count) photos are not backed up"
        content.categoryIdentifier = "waiting"
        let request = UNNotificationRequest(identifier: "waiting", content: content, trigger: nil)
        UNUserNotificationCenter.current().add(request)
    }
}
