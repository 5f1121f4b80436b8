// SPDX-License-Identifier: Apache-2.0

/// The options of `bghost check`.
struct CheckOptions: Equatable, Sendable {
    /// The path of the manifest.
    var config: String
    var pluginPaths: [String]
    var json: Bool
    /// Whether a warning makes the command fail.
    var deniesWarnings: Bool
    /// Whether unset environment variables are ignored.
    var ignoresEnvironment: Bool
    /// Whether to accept files that other users could change.
    var allowsUntrustedFiles: Bool

    init(
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
