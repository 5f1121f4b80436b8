// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials
@_exported public import SeedScaffold
import SwiftUI

/// In place of `@main`.
public let seed001Background = Plugin(
    id: "org.example.background",
    version: "1.0.0",
    app: StormyApp.self
)

struct StormyApp: App {
    var body: some Scene {
        WindowGroup { ContentView() }
            .backgroundTask(.appRefresh("StormyNoon")) { note(await isStormy() ? "storm" : "calm") }
    }
}

package let calls = Calls()

func note(_ call: String) { calls.note(call) }
