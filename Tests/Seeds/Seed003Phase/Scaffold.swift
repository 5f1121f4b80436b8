// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials
@_exported public import SeedScaffold

/// In place of `@main`.
public let seed003Phase = Plugin(id: "org.example.phase", version: "1.0.0", app: MyApp.self)
