// SPDX-License-Identifier: Apache-2.0
import BackgroundTasks

struct Visitor: Codable { var name: String }

let plugin = Plugin(id: "org.example.hello", version: "1.0.0") {
    Handler("hello") { (context, visitor: Visitor) in
        context.log(.info, "somebody is at the door")
        try await Task.sleep(for: .milliseconds(10))  // ends early when the run is asked to stop
        return ["greeting": "Hello, \(visitor.name)!"]
    }
}

/// Where the host comes in.
@c(bghost_plugin_v1)
public func entry(_ host: HostTable?) -> PluginTable? { plugin.table(for: host) }
