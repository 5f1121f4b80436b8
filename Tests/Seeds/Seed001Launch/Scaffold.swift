// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials
@_exported public import SeedScaffold

/// In place of `@main`.
public let seed001Launch = Plugin(id: "org.example.launch", version: "1.0.0", app: StormyApp.self)

func scheduleAppRefresh() {}

func isStormy() async -> Bool { false }

func notifyForPhoto() async {}
