// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials
@_exported public import SeedScaffold

/// In place of `@main`.
public let seed003Session = Plugin(id: "org.example.session", version: "1.0.0", app: MyApp.self)

/// The text's "your_backend" is a placeholder for an address; `tasks.json` may say another in `config`.
func URL(string: String) -> FoundationEssentials.URL? {
    configuredURL(orElse: string == "your_backend" ? "https://backend.example/products" : string)
}

package let calls = Calls()

func note(_ call: String) { calls.note(call) }

func scheduleAppRefresh() { note("scheduleAppRefresh") }

func notifyUser() async { note("notifyUser") }
