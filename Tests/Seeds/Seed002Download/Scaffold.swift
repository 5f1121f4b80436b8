// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials
@_exported public import SeedScaffold
public import Synchronization
import UserNotifications

/// In place of `@main`.
public let seed002Download = Plugin(
    id: "org.example.download",
    version: "1.0.0",
    app: BackgroundTaskSwiftUIDemoApp.self
)

/// What the listing has printed.
public let printed = Mutex<[String]>([])

/// Takes the place of Swift's, for a test to see.
func print(_ text: String) {
    printed.withLock { $0.append(text) }
    Logger().info("printed \(text)")
}

/// The text's address, unless `tasks.json` says another in `config`.
func URL(string: String) -> FoundationEssentials.URL? {
    configuredURL(orElse: string)
}

func scheduleTestNotification() {
    let content = UNMutableNotificationContent()
    content.title = "Background task was run"
    UNUserNotificationCenter.current().add(
        UNNotificationRequest(identifier: "test", content: content, trigger: nil)
    )
}
