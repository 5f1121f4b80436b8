// SPDX-License-Identifier: Apache-2.0

package import BackgroundFoundation
import BackgroundTasks
package import FoundationEssentials
import Synchronization
package import UserNotifications

// Code that several articles leave to their readers.

package struct ContentView {
    package init() {}
}

/// The functions outside its text that a listing has called.
package final class Calls: Sendable {
    private let texts = Mutex<[String]>([])

    package init() {}

    package var all: [String] { texts.withLock { $0 } }

    package func note(_ call: String) {
        texts.withLock { $0.append(call) }
        // Which a test with a daemon sees.
        Logger().info("called \(call)")
    }
}

/// The address that `tasks.json` says in `config`, for tests with a server of their own; else another.
package func configuredURL(orElse address: String) -> FoundationEssentials.URL? {
    let config = try? TaskContext.current?.configuration(as: [String: String].self)
    return FoundationEssentials.URL(string: config?["address"] ?? address)
}

package var WEATHER_URL: FoundationEssentials.URL {
    guard let url = configuredURL(orElse: "https://weather.example/now") else {
        fatalError("the placeholder is no URL")
    }
    return url
}

package func parseWeather(_ answer: (Data, URLResponse)) -> Bool {
    (answer.1 as? HTTPURLResponse)?.statusCode == 200
        && String(decoding: answer.0, as: UTF8.self).contains("storm")
}

package func photoUploadNotification() -> UNNotificationRequest {
    let content = UNMutableNotificationContent()
    content.title = "A storm is coming"
    content.body = "Take a photo of the sky!"
    return UNNotificationRequest(identifier: "photo", content: content, trigger: nil)
}

package struct Product: Decodable {
    package var name: String
}
