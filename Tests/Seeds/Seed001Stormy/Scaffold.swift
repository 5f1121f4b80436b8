// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials
import SwiftUI
import UserNotifications

/// In place of `@main`.
public let seed001Stormy = Plugin(id: "org.example.stormy", version: "1.0.0", app: StormyApp.self)

struct ContentView {}

func photoUploadNotification() -> UNNotificationRequest {
    let content = UNMutableNotificationContent()
    content.title = "A storm is coming"
    content.body = "Take a photo of the sky!"
    return UNNotificationRequest(identifier: "photo", content: content, trigger: nil)
}

/// What `tasks.json` says in `config`, for tests with a server of their own.
var WEATHER_URL: FoundationEssentials.URL {
    let config = try? TaskContext.current?.configuration(as: [String: String].self)
    return FoundationEssentials.URL(string: config?["address"] ?? "https://weather.example/now")
        .required
}

func parseWeather(_ answer: (Data, URLResponse)) -> Bool {
    (answer.1 as? HTTPURLResponse)?.statusCode == 200
        && String(decoding: answer.0, as: UTF8.self).contains("storm")
}

extension Optional {
    /// A value that the text forces.
    var required: Wrapped {
        guard let self else { fatalError("the placeholder is no URL") }
        return self
    }
}

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
