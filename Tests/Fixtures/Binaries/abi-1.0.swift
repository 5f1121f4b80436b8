// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks

// The source of abi-1.0-swift-*.so: a plugin in Swift as it was built against ABI 1.0. Every later host loads that
// binary and runs its handlers. Neither is ever built or changed again.

struct Number: Codable {
    var n: Int
}

let plugin = Plugin(id: "test.abi-1.0.swift", version: "1.0.0") {
    Handler("succeed") { context in context.log(.info, "task \(context.taskIdentifier)") }
    Handler("echo") { (context, number: Number) in
        context.progress(1, of: 2, "echoing")
        return number
    }
    Handler("honour-cancel", options: .serial) { context in
        context.progress(1, of: 2, "waiting")
        do {
            while true { try await Task.sleep(for: .seconds(3600)) }
        } catch {
            context.log(.info, "cancelled")
            throw error
        }
    }
}

/// The function that the host calls first.
@c(bghost_plugin_v1)
public func entry(_ host: HostTable?) -> PluginTable? { plugin.table(for: host) }
