// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
@_exported public import SeedScaffold
import SwiftUI

/// In place of `@main`.
public let seed002Optional = Plugin(
    id: "org.example.optional",
    version: "1.0.0",
    app: OptionalApp.self
)

package let calls = Calls()

func note(_ call: String) { calls.note(call) }

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
