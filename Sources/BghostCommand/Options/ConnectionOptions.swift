// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import BghostControl

/// Where the daemon is.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The daemon's control socket (or set BGHOST_CONTROL).",
            valueName: "path"
        ),
        completion: .file()
    )
    var control: String?

    @Option(
        help: ArgumentHelp(
            "The daemon's state directory, which holds its socket.",
            valueName: "dir"
        ),
        completion: .directory
    )
    var stateDir: String?

    @Option(
        name: [.short, .long],
        help: ArgumentHelp("The daemon's manifest, which may name its socket.", valueName: "file"),
        completion: .file()
    )
    var config: String?

    /// The path of the socket: what the command line says, then the environment, then the manifest,
    /// then the usual place.
    func socketPath() throws -> String {
        if let control { return ControlLocation.normalized(control) }
        if let stateDir {
            return ControlLocation.normalized(ControlLocation.socket(inStateDirectory: stateDir))
        }
        if config == nil, let path = ControlLocation.variable(of: ControlLocation.variable) {
            return ControlLocation.normalized(path)
        }
        if let config, let path = try ManifestLocation.controlSocket(ofManifest: config) {
            return ControlLocation.normalized(path)
        }
        guard let directory = ControlLocation.stateDirectory() else {
            throw CommandFailure(
                .usage,
                "neither HOME nor XDG_STATE_HOME says where the daemon's socket is",
                fix: "name it with --control"
            )
        }
        return ControlLocation.socket(inStateDirectory: directory)
    }
}
