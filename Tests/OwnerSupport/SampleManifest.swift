// SPDX-License-Identifier: Apache-2.0

package import BghostModel
package import BghostPolicy

/// What most tests of owners begin with: one plugin, `plugin`, with the task `backup`.
package enum SampleManifest {
    /// - Parameter change: changes the task.
    package static func make(_ change: (inout TaskDefinition) -> Void = { _ in }) -> Manifest {
        guard let identifier = IdentifierPattern("backup") else { preconditionFailure("backup") }
        var task = TaskDefinition(
            identifier: identifier,
            handler: .plugin(name: "plugin", handler: "backup")
        )
        change(&task)
        return Manifest(
            plugins: [PluginDefinition(name: "plugin", library: "plugin.so")],
            tasks: [task]
        )
    }

    /// The settings of a scheduler with two slots.
    package static func settings(_ manifest: Manifest = make()) -> Scheduler.Settings {
        Scheduler.Settings(
            manifest: manifest,
            manifestPath: "tasks.json",
            slots: 2,
            machineID: "machine",
            seed: 1
        )
    }
}
