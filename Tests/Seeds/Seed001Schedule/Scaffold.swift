// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials

/// In place of `@main`.
public let seed001Schedule = Plugin(
    id: "org.example.schedule",
    version: "1.0.0",
    app: StormyApp.self
)

struct ContentView {}

/// What the listing defines, for its test.
public func schedule() { scheduleAppRefresh() }
