// SPDX-License-Identifier: Apache-2.0

/// What `bghost check` was asked for.
package struct CheckOptions: Equatable, Sendable {
    /// The path of the manifest.
    package var config: String
    package var pluginPaths: [String]
    package var json: Bool
    /// Whether a warning makes it fail.
    package var deniesWarnings: Bool
    /// Whether variables of the environment that are not set are passed over.
    package var ignoresEnvironment: Bool
    /// Whether files are taken that others could change.
    package var isLax: Bool

    package init(
        config: String,
        pluginPaths: [String] = [],
        json: Bool = false,
        deniesWarnings: Bool = false,
        ignoresEnvironment: Bool = false,
        isLax: Bool = false
    ) {
        self.config = config
        self.pluginPaths = pluginPaths
        self.json = json
        self.deniesWarnings = deniesWarnings
        self.ignoresEnvironment = ignoresEnvironment
        self.isLax = isLax
    }
}
