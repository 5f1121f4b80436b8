// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks

/// Handlers of the Swift SDK that do as little as can be.
let plugin = Plugin(id: "org.bghost.bench.swift", version: "1.0.0", vendor: "bghost bench") {
    Handler("nop") { _ -> Void in }
    Handler("ignore") { context -> Void in
        context.progress(1, of: 0, "holding")
        try await Task.sleep(for: .seconds(3600))
    }
}

/// Where the host comes in.
@c(bghost_plugin_v1)
public func entry(_ host: HostTable?) -> PluginTable? { plugin.table(for: host) }
