// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import BghostControl

/// The options that select the daemon.
package struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The daemon's control socket (or set BGHOST_CONTROL).",
            valueName: "path"
        ),
        completion: .file()
    )
    package var control: String?

    @Option(
        help: ArgumentHelp(
            "The daemon's state directory, which holds its socket.",
            valueName: "dir"
        ),
        completion: .directory
    )
    package var stateDir: String?

    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            "The daemon's manifest; finds the daemon that runs it.",
            valueName: "file"
        ),
        completion: .file()
    )
    package var config: String?

    package init() {}

    /// The path of the control socket.
    ///
    /// The first of these that is available counts: --control, --state-dir, the running daemon of the
    /// manifest, BGHOST_CONTROL, the manifest itself, the usual location.
    package func socketPath() throws -> String {
        if let control { return ControlLocation.normalized(control) }
        if let stateDir {
            return ControlLocation.normalized(ControlLocation.socket(inStateDirectory: stateDir))
        }
        // The command line of a daemon takes precedence over its manifest.
        if let config, let path = DaemonRecord(manifest: config)?.socket() { return path }
        if let path = ControlLocation.variable(of: ControlLocation.variable) {
            return ControlLocation.normalized(path)
        }
        if let config, let path = try ManifestLocation.controlSocket(ofManifest: config) {
            return ControlLocation.normalized(path)
        }
        guard let path = ControlLocation.usualSocket() else {
            throw CommandFailure(
                .usage,
                "cannot find the daemon's socket: neither HOME nor XDG_STATE_HOME is set",
                fix: "name it with --control"
            )
        }
        return path
    }
}
