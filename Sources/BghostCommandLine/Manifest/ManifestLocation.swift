// SPDX-License-Identifier: Apache-2.0

internal import BghostManifest
internal import BghostModel
internal import BghostControl

/// Finds the daemon of a manifest.
package enum ManifestLocation {
    /// The path of the control socket; `nil` if the manifest leaves it to the daemon.
    package static func controlSocket(ofManifest path: String) throws -> String? {
        let reading = ManifestFiles.read(path, unresolvedSecrets: .warning)
        guard let host = reading.manifest?.host else { throw reading.failure }
        return host.controlSocket
            ?? host.stateDirectory.map(ControlLocation.socket(inStateDirectory:))
    }
}
