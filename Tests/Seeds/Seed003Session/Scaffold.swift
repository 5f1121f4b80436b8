// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials
public import Synchronization

/// In place of `@main`.
public let seed003Session = Plugin(id: "org.example.session", version: "1.0.0", app: MyApp.self)

struct ContentView {}

/// The text's "your_backend" is a placeholder for an address; `tasks.json` may say another in `config`.
func URL(string: String) -> FoundationEssentials.URL? {
    let config = try? TaskContext.current?.configuration(as: [String: String].self)
    let address = string == "your_backend" ? "https://backend.example/products" : string
    return FoundationEssentials.URL(string: config?["address"] ?? address)
}

/// What the listing has called of what the text does not define.
public let calls = Mutex<[String]>([])

func note(_ call: String) {
    calls.withLock { $0.append(call) }
    // Which a test with a daemon sees.
    Logger().info("called \(call)")
}

func scheduleAppRefresh() { note("scheduleAppRefresh") }

func notifyUser() async { note("notifyUser") }
