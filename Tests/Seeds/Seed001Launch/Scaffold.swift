// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials

/// In place of `@main`.
public let seed001Launch = Plugin(id: "org.example.launch", version: "1.0.0", app: StormyApp.self)

struct ContentView {}

func scheduleAppRefresh() {}

func isStormy() async -> Bool { false }

func notifyForPhoto() async {}
