// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

import UserNotifications

func notifyForPhoto() async {
    let notificationRequest = photoUploadNotification()
    do {
        try await UNUserNotificationCenter.current().add(notificationRequest)
    } catch {
        print("Notification failed with error: \(String(describing: error))")
    }
}
