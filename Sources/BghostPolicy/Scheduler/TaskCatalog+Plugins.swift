// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

extension TaskCatalog {
    /// Whether the manifest has a plugin or a function of this name.
    package func hasPlugin(_ name: String) -> Bool { currentPlugins[name] != nil }

    /// Whether the manifest gives the runs of a task to a plugin or function.
    package func isTask(_ identifier: String, ofPlugin name: String) -> Bool {
        task(for: identifier).map { plugin(ofTask: $0).name == name } ?? false
    }

    /// Whether plugins submit the requests of a task, and so may withdraw them; `false` for an unknown task.
    package func isSubmittedByPlugins(_ identifier: String) -> Bool {
        task(for: identifier).map { tasks[$0].kind.isSubmittedByPlugins } ?? false
    }
}
