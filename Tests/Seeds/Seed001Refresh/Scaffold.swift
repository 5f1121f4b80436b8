// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials
@_exported public import SeedScaffold

/// In place of `@main`.
public let seed001Refresh = Plugin(id: "org.example.refresh", version: "1.0.0", app: StormyApp.self)

package let calls = Calls()

func note(_ call: String) { calls.note(call) }

func scheduleAppRefresh() { note("scheduleAppRefresh") }

func isStormy() async -> Bool {
    note("isStormy")
    return true
}

func notifyForPhoto() async { note("notifyForPhoto") }
