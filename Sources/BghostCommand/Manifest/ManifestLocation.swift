// SPDX-License-Identifier: Apache-2.0

internal import BghostControl
internal import BghostCore

/// Where a manifest says that its daemon is.
package enum ManifestLocation {
    /// The path of the control socket; `nil` if the manifest leaves it to the daemon.
    package static func controlSocket(ofManifest path: String) throws -> String? {
        let reading = ManifestFiles.read(path, unresolvedSecrets: .warning)
        guard let host = reading.manifest?.host else {
            throw CommandFailure(
                .badManifest,
                "\(path) has errors, so it does not say where its daemon is",
                fix: "see them with: bghost check --config \(path)"
            )
        }
        return host.controlSocket
            ?? host.stateDirectory.map(ControlLocation.socket(inStateDirectory:))
    }
}
