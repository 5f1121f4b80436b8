// SPDX-License-Identifier: Apache-2.0

/// The code and the manifest of a run.
///
/// All runs of a plugin share one object until the code or the manifest changes.
package final class RunOrigin: Hashable, Codable, Sendable, CustomStringConvertible {
    /// The most origins that a store keeps.
    package static let keptMax = 4096

    /// The version of the plugin; "" for a function.
    package let version: String
    /// The SHA-256 of the library in hexadecimal digits; "" while it is unknown.
    package let library: String
    /// The SHA-256 of the manifest's text.
    package let manifest: String

    package init(version: String, library: String, manifest: String) {
        self.version = version
        self.library = library
        self.manifest = manifest
    }

    package static func == (a: RunOrigin, b: RunOrigin) -> Bool {
        a === b
            || a.version == b.version && a.library == b.library && a.manifest == b.manifest
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(library)
        hasher.combine(manifest)
    }

    package var description: String { "\(version) \(library) \(manifest)" }
}
