// SPDX-License-Identifier: Apache-2.0

import BackgroundFoundation
public import BackgroundTasks
import FoundationEssentials
@_exported public import SeedScaffold

/// In place of `@main`.
public let seed001Shared = Plugin(id: "org.example.shared", version: "1.0.0", app: StormyApp.self)

package let calls = Calls()

func note(_ call: String) { calls.note(call) }

func scheduleAppRefresh() {}

func notifyForPhoto() async { note("notifyForPhoto") }
