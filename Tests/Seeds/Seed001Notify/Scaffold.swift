// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import UserNotifications

/// In place of `@main`.
public let seed001Notify = Plugin(id: "org.example.notify", version: "1.0.0", app: StormyApp.self)

struct ContentView {}

func photoUploadNotification() -> UNNotificationRequest {
    let content = UNMutableNotificationContent()
    content.title = "A storm is coming"
    content.body = "Take a photo of the sky!"
    return UNNotificationRequest(identifier: "photo", content: content, trigger: nil)
}

func scheduleAppRefresh() {}

func isStormy() async -> Bool { true }
