// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Where the daemon keeps its state and is spoken to, unless it was told otherwise.
package enum ControlLocation {
    /// The name of the socket in the state directory.
    package static let socketName = "control.sock"
    /// The environment variable that names the socket for clients.
    package static let variable = "BGHOST_CONTROL"

    /// The state directory: `/var/lib/bghost` for root, else `$XDG_STATE_HOME/bghost`, which is
    /// `~/.local/state/bghost` as a rule.
    ///
    /// - Returns: `nil` if there is neither `XDG_STATE_HOME` nor `HOME`.
    package static func stateDirectory(
        isRoot: Bool = geteuid() == 0,
        environment: (String) -> String? = variable(of:)
    ) -> String? {
        if isRoot { return "/var/lib/bghost" }
        // The XDG specification has relative paths ignored.
        if let state = environment("XDG_STATE_HOME"), state.hasPrefix("/") {
            return state + "/bghost"
        }
        guard let home = environment("HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.local/state/bghost"
    }

    /// The socket of a state directory.
    package static func socket(inStateDirectory directory: String) -> String {
        directory.hasSuffix("/") ? directory + socketName : directory + "/" + socketName
    }

    /// A variable of the environment; `nil` if it is unset or empty.
    package static func variable(of name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    /// The path as the kernel wants it: without the scheme `unix:`, and absolute.
    package static func normalized(_ path: String) -> String {
        let path = path.hasPrefix("unix:") ? String(path.dropFirst(5)) : path
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }
}
