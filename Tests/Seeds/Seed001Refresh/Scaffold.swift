// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials
public import Synchronization

/// In place of `@main`.
public let seed001Refresh = Plugin(id: "org.example.refresh", version: "1.0.0", app: StormyApp.self)

struct ContentView {}

/// What the listing has called of what the text does not define.
public let calls = Mutex<[String]>([])

func note(_ call: String) {
    calls.withLock { $0.append(call) }
    // Which a test with a daemon sees.
    Logger().info("called \(call)")
}

func scheduleAppRefresh() { note("scheduleAppRefresh") }

func isStormy() async -> Bool {
    note("isStormy")
    return true
}

func notifyForPhoto() async { note("notifyForPhoto") }
