// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials
public import Synchronization

/// In place of `@main`.
public let seed002App = Plugin(
    id: "org.example.flow",
    version: "1.0.0",
    app: BackgroundTaskSwiftUIDemoApp.self
)

struct ContentView {}

/// What the listing has called of what the text does not define.
public let calls = Mutex<[String]>([])

func note(_ call: String) {
    calls.withLock { $0.append(call) }
    // Which a test with a daemon sees.
    Logger().info("called \(call)")
}

func scheduleTestNotification() async { note("scheduleTestNotification") }

final class DataFetchHelper: Sendable {
    static let shared = DataFetchHelper()

    func startRequestingRemoteData() async { note("startRequestingRemoteData") }
}
