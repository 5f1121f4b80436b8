// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The default locations of the daemon's state and control socket.
package enum ControlLocation {
    /// The name of the socket in the state directory.
    static let socketName = "control.sock"
    /// The socket of the daemon that the system's service manager runs.
    package static let systemSocket = "/run/bghost/control.sock"
    /// The environment variable with the socket's path, for clients.
    package static let variable = "BGHOST_CONTROL"

    /// The state directory: `/var/lib/bghost` for root, otherwise `$XDG_STATE_HOME/bghost`, with the default
    /// `~/.local/state/bghost`.
    ///
    /// - Returns: `nil` if neither `XDG_STATE_HOME` nor `HOME` is set.
    package static func stateDirectory(
        isRoot: Bool = geteuid() == 0,
        environment: (String) -> String? = variable(of:)
    ) -> String? {
        if isRoot { return "/var/lib/bghost" }
        // The XDG specification requires that relative paths are ignored.
        if let state = environment("XDG_STATE_HOME"), state.hasPrefix("/") {
            return state + "/bghost"
        }
        guard let home = environment("HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.local/state/bghost"
    }

    /// The control socket in a state directory.
    package static func socket(inStateDirectory directory: String) -> String {
        directory.hasSuffix("/") ? directory + socketName : directory + "/" + socketName
    }

    /// The socket that a client uses if nothing names one: that of a daemon of its own user, otherwise that
    /// of the system's daemon; `nil` if there can be neither.
    ///
    /// - Parameters:
    ///   - stateDirectory: the usual one of the user.
    ///   - exists: whether a path exists.
    package static func usualSocket(
        stateDirectory: String? = stateDirectory(),
        exists: (String) -> Bool = { access($0, F_OK) == 0 }
    ) -> String? {
        let own = stateDirectory.map(socket(inStateDirectory:))
        if let own, exists(own) { return own }
        return exists(systemSocket) ? systemSocket : own
    }

    /// An environment variable; `nil` if it is unset or empty.
    package static func variable(of name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    /// The path for the kernel: absolute, and without the scheme `unix:`.
    package static func normalized(_ path: String) -> String {
        let path = path.hasPrefix("unix:") ? String(path.dropFirst(5)) : path
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }
}
