// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
@_exported public import SeedScaffold
import UserNotifications

/// In place of `@main`.
public let seed001Notify = Plugin(id: "org.example.notify", version: "1.0.0", app: StormyApp.self)

func scheduleAppRefresh() {}

func isStormy() async -> Bool { true }
