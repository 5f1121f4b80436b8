// SPDX-License-Identifier: Apache-2.0

/// Where a manifest says that its daemon is.
package enum ManifestLocation {
    /// The path of the control socket; `nil` if the manifest leaves it to the daemon.
    package static func controlSocket(ofManifest path: String) throws -> String? {
        throw CommandFailure(.internalError, "this build has no manifest reader")
    }
}
