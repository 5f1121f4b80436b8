// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials
@_exported public import SeedScaffold
import SwiftUI
import UserNotifications

/// In place of `@main`.
public let seed001Stormy = Plugin(id: "org.example.stormy", version: "1.0.0", app: StormyApp.self)

/// The app of the last listing, with what the text says in place of `// ...`.
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
        .backgroundTask(.urlSession("isStormy")) {
            if await isStormy() {
                await notifyForPhoto()
            }
        }
    }
}
