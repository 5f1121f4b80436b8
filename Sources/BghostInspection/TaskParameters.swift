// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel
package import BghostSchemas

/// Checks the parameters of a manifest's tasks against the schemas that a plugin declares.
package struct TaskParameters {
    private let tasks: [TaskDefinition]

    package init(_ manifest: Manifest) { tasks = manifest.tasks }

    /// - Parameter tasks: at least those of the plugins that are asked about.
    package init(_ tasks: [TaskDefinition]) { self.tasks = tasks }

    /// The first task whose parameters do not fit, with all its faults; `nil` if all fit.
    package func problem(of plugin: String, _ schemas: HandlerSchemas) -> String? {
        for task in tasks {
            guard case .plugin(plugin, let handler) = task.handler,
                TaskKind.named.contains(task.kind),
                let schema = schemas.schemas[handler]
            else { continue }
            let faults = schema.faults(in: task.parameters, isComplete: task.isComplete)
            guard !faults.isEmpty else { continue }
            let origin = task.origin
            let place = origin.line > 0 ? "\(origin.file):\(origin.line):\(origin.column): " : ""
            return
                "\(place)task `\(task.identifier)` has wrong parameters for handler `\(handler)`: "
                + faults.map(\.description).joined(separator: "; ")
        }
        return nil
    }
}
