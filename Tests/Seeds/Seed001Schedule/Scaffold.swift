// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials
@_exported public import SeedScaffold

/// In place of `@main`.
public let seed001Schedule = Plugin(
    id: "org.example.schedule",
    version: "1.0.0",
    app: StormyApp.self
)

/// What the listing defines, for its test.
public func schedule() { scheduleAppRefresh() }
