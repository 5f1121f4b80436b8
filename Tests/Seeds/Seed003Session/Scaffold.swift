// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials
public import Synchronization

/// In place of `@main`.
public let seed003Session = Plugin(id: "org.example.session", version: "1.0.0", app: MyApp.self)

struct ContentView {}

/// The text's "your_backend" is a placeholder for an address.
func URL(string: String) -> FoundationEssentials.URL? {
    FoundationEssentials.URL(
        string: string == "your_backend" ? "https://backend.example/products" : string
    )
}

/// What the listing has called of what the text does not define.
public let calls = Mutex<[String]>([])

func note(_ call: String) { calls.withLock { $0.append(call) } }

func scheduleAppRefresh() { note("scheduleAppRefresh") }

func notifyUser() async { note("notifyUser") }
