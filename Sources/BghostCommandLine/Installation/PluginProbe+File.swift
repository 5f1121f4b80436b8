// SPDX-License-Identifier: Apache-2.0

package import BghostInspection
internal import BghostModel

extension PluginProbe {
    /// A probe for a file that no manifest names, with the worker of this installation.
    package static func ofFile() throws -> PluginProbe {
        PluginProbe(
            Manifest(),
            workerPath: try InstalledFiles.worker(),
            pluginPath: [],
            manifestDirectory: "/",
            allowsUntrustedFiles: true
        )
    }
}
