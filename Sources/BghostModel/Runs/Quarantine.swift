// SPDX-License-Identifier: Apache-2.0

/// A quarantined plugin: it starts no more workers, because it crashed repeatedly.
///
/// The quarantine applies to this library under this build of the host. After either has changed, the plugin
/// can run again, but its next crash quarantines it again.
package struct Quarantine: Equatable, Sendable {
    /// The plugin's name in the manifest.
    package var plugin: String
    /// The SHA-256 of its library, 64 hex digits; for a function, its definition in the manifest.
    ///
    /// "" if the library could not be read.
    package var library: String
    /// The build of the host.
    package var host: String
    /// Unix nanoseconds.
    package var since: Int64
    /// A description of its crashes.
    package var reason: String

    package init(plugin: String, library: String, host: String, since: Int64, reason: String) {
        self.plugin = plugin
        self.library = library
        self.host = host
        self.since = since
        self.reason = reason
    }
}
