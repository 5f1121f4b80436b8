// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import SwiftUI
public import Synchronization

/// In place of `@main`.
public let seed002Optional = Plugin(
    id: "org.example.optional",
    version: "1.0.0",
    app: OptionalApp.self
)

struct ContentView {}

/// What the listing has called of what the text does not define.
public let calls = Mutex<[String]>([])

func note(_ call: String) {
    calls.withLock { $0.append(call) }
    // Which a test with a daemon sees.
    Logger().info("called \(call)")
}

struct OptionalApp: App {
    init() {
        // The placeholders of the text's `register` filled in.
        BGTaskScheduler.shared.register(
            forTaskWithIdentifier: "com.test.test.registered",
            using: nil,
            launchHandler: { (task: BGTask) -> Void in
                note("registered")
                task.setTaskCompleted(success: true)
            }
        )
    }

    var body: some Scene {
        WindowGroup { ContentView() }
            .backgroundTaskIfAvailable("com.test.test.appRefreshTest") { note("available") }
    }
}
