// SPDX-License-Identifier: Apache-2.0

extension TaskCatalog {
    /// Whether the manifest has a plugin or a function of this name.
    package func hasPlugin(_ name: String) -> Bool { currentPlugins[name] != nil }

    /// Whether the manifest gives the runs of a task to a plugin or function.
    package func isTask(_ identifier: String, ofPlugin name: String) -> Bool {
        task(for: identifier).map { plugin(ofTask: $0).name == name } ?? false
    }
}
