// SPDX-License-Identifier: Apache-2.0

/// The options of `bghost check`.
package struct CheckOptions: Equatable, Sendable {
    /// The path of the manifest.
    package var config: String
    package var pluginPaths: [String]
    package var json: Bool
    /// Whether a warning makes the command fail.
    package var deniesWarnings: Bool
    /// Whether unset environment variables are ignored.
    package var ignoresEnvironment: Bool
    /// Whether to accept files that other users could change.
    package var allowsUntrustedFiles: Bool

    package init(
        config: String,
        pluginPaths: [String] = [],
        json: Bool = false,
        deniesWarnings: Bool = false,
        ignoresEnvironment: Bool = false,
        allowsUntrustedFiles: Bool = false
    ) {
        self.config = config
        self.pluginPaths = pluginPaths
        self.json = json
        self.deniesWarnings = deniesWarnings
        self.ignoresEnvironment = ignoresEnvironment
        self.allowsUntrustedFiles = allowsUntrustedFiles
    }
}
