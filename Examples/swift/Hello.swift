// SPDX-License-Identifier: Apache-2.0
import BackgroundTasks

struct Visitor: Codable { var name: String }

let plugin = Plugin(id: "org.example.hello", version: "1.0.0") {
    Handler("hello") { (context, visitor: Visitor) in
        context.log(.info, "a visitor is at the door")
        try await Task.sleep(for: .milliseconds(10))  // throws if the run is cancelled
        return ["greeting": "Hello, \(visitor.name)!"]
    }
}

/// The function that the host calls first.
@c(bghost_plugin_v1)
public func entry(_ host: HostTable?) -> PluginTable? { plugin.table(for: host) }
