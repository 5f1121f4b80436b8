// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials
@_exported public import SeedScaffold

/// In place of `@main`.
public let seed002App = Plugin(
    id: "org.example.flow",
    version: "1.0.0",
    app: BackgroundTaskSwiftUIDemoApp.self
)

package let calls = Calls()

func note(_ call: String) { calls.note(call) }

func scheduleTestNotification() async { note("scheduleTestNotification") }

final class DataFetchHelper: Sendable {
    static let shared = DataFetchHelper()

    func startRequestingRemoteData() async { note("startRequestingRemoteData") }
}
