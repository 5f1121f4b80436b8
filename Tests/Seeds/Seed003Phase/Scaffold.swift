// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials

/// In place of `@main`.
public let seed003Phase = Plugin(id: "org.example.phase", version: "1.0.0", app: MyApp.self)

struct ContentView {}
