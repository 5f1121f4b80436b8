// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials
import SwiftUI
public import Synchronization

/// In place of `@main`.
public let seed001Background = Plugin(
    id: "org.example.background",
    version: "1.0.0",
    app: StormyApp.self
)

struct ContentView {}

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

struct StormyApp: App {
    var body: some Scene {
        WindowGroup { ContentView() }
            .backgroundTask(.appRefresh("StormyNoon")) { note(await isStormy() ? "storm" : "calm") }
    }
}

/// What the listing has called of what the text does not define.
public let calls = Mutex<[String]>([])

func note(_ call: String) {
    calls.withLock { $0.append(call) }
    // Which a test with a daemon sees.
    Logger().info("called \(call)")
}
