// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import FoundationEssentials
import UserNotifications

/// The notification, and what a tap on it does.
enum PhotoSuggestion {
    static let category = UNNotificationCategory(
        identifier: "storm",
        actions: [UNNotificationAction(identifier: upload, title: "Upload my photo")]
    )
    private static let upload = "upload"

    /// Kept here, because the notification center does not.
    static let taps = Taps()

    static func request(_ storm: Storm, _ settings: Settings) -> UNNotificationRequest {
        let content = UNMutableNotificationContent()
        content.title = "A storm is coming"
        content.body =
            "Take a photo of the sky! Thunderstorm from \(storm.hour). \(storm.attribution)"
        content.categoryIdentifier = category.identifier
        content.userInfo = ["tags": ["thunder_cloud_and_rain"]]
        // The identifier depends on the storm only, so a repeated wake posts no second notification.
        let place = "\(settings.latitude)-\(settings.longitude)"
        let time = Int(storm.start.timeIntervalSince1970)
        return UNNotificationRequest(
            identifier: "storm-\(place)-\(time)",
            content: content,
            trigger: nil
        )
    }

    /// Told in a run of its own, which is repeated if the machine dies meanwhile.
    final class Taps: UNUserNotificationCenterDelegate, Sendable {
        func userNotificationCenter(
            _ center: UNUserNotificationCenter,
            didReceive response: UNNotificationResponse
        ) async {
            // To open the notification is to take its one action; to put it away is not.
            let taken = [upload, UNNotificationDefaultActionIdentifier]
            guard taken.contains(response.actionIdentifier) else { return }
            do {
                let settings: Settings? = try TaskContext.current?.configuration()
                guard let task = settings?.uploadTask else { return }
                try BGTaskScheduler.shared.submit(BGProcessingTaskRequest(identifier: task))
                Logger().info("\(response.actionIdentifier): the upload is asked for")
            } catch {
                Logger().error("\(response.actionIdentifier): \(error)")
            }
        }
    }
}
