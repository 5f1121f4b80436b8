// SPDX-License-Identifier: Apache-2.0

/// A plugin that is not run any more, because it crashed over and over.
///
/// It is about these bytes under this host: once either is another one, the plugin is tried again, and
/// the next crash is enough to have it back here.
package struct Quarantine: Equatable, Sendable {
    /// Its name in the manifest.
    package var plugin: String
    /// The SHA-256 of its library, 64 hex digits; of a function, what the manifest says of it.
    ///
    /// "" if it could not be read.
    package var library: String
    /// The build of the host.
    package var host: String
    /// Unix nanoseconds.
    package var since: Int64
    /// What it did.
    package var reason: String

    package init(plugin: String, library: String, host: String, since: Int64, reason: String) {
        self.plugin = plugin
        self.library = library
        self.host = host
        self.since = since
        self.reason = reason
    }
}
