// SPDX-License-Identifier: Apache-2.0
import BackgroundTasks
import SwiftUI
import UserNotifications

struct StormyApp: App {
    var body: some Scene {
        WindowGroup {}
            .backgroundTask(.appRefresh("com.example.stormy.noon")) { await look() }
            .backgroundTask(.urlSession("weather")) { await look() }
    }
}

func look() async {
    guard await isStormy() else { return }
    let content = UNMutableNotificationContent()
    content.title = "Take a photo of the sky!"
    let request = UNNotificationRequest(identifier: "storm", content: content, trigger: nil)
    try? await UNUserNotificationCenter.current().add(request)
}

func isStormy() async -> Bool {
    guard let url = URL(string: "https://weather.example/now") else { return false }
    let session = URLSession(configuration: .background(withIdentifier: "weather"))
    // When the run's time is over this throws, and the transfer goes on: its end is the wake of the
    // session above, in which the same request finds it.
    guard let (data, _) = try? await session.data(from: url) else { return false }
    return String(decoding: data, as: UTF8.self).contains("storm")
}

let plugin = Plugin(id: "org.example.stormy", version: "1.0.0", app: StormyApp.self)

/// In place of `@main`.
@c(bghost_plugin_v1)
public func entry(_ host: HostTable?) -> PluginTable? { plugin.table(for: host) }
