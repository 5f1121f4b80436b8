// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
package import BghostModel
internal import Glibc

/// The permissions at the control socket.
package struct ControlAccess: Sendable {
    /// A group whose members may connect, and their role.
    package struct Group: Equatable, Sendable {
        var id: UInt32
        var role: ControlRole

        init(id: UInt32, role: ControlRole) {
            self.id = id
            self.role = role
        }

        /// Looks up a group in the system's database, which may block.
        ///
        /// - Returns: `nil` if the system has no group with this name.
        package init?(named name: String, role: ControlRole) {
            var entry = Glibc.group()
            var found: UnsafeMutablePointer<Glibc.group>?
            var buffer = [CChar](repeating: 0, count: 64 << 10)
            guard getgrnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else {
                return nil
            }
            self.init(id: entry.gr_gid, role: role)
        }
    }

    private let group: Group?
    private let isOwnProcess: @Sendable (PeerCredentials) -> Bool

    /// - Parameters:
    ///   - group: `nil` restricts the socket to root and to the user that runs the daemon.
    ///   - isOwnProcess: whether a client is a worker of the daemon, or was started by one. It is called on
    ///     an event loop, so it must not block.
    package init(
        group: Group? = nil,
        isOwnProcess: @escaping @Sendable (PeerCredentials) -> Bool = { _ in false }
    ) {
        self.group = group
        self.isOwnProcess = isOwnProcess
    }

    var mode: mode_t { group == nil ? 0o600 : 0o660 }
    var owner: gid_t? { group?.id }

    /// The role of a client; `nil` if it may not connect.
    ///
    /// - Parameter pidfd: of the client, or -1 if the kernel provides none. A pid alone may be that of
    ///   another process meanwhile.
    func role(of peer: PeerCredentials, pidfd: Int32) -> ControlRole? {
        // Without a sandbox, a worker of a daemon that does not run as root could connect as the daemon's
        // user, and control the daemon.
        guard !isOwnProcess(peer) else { return nil }
        let isOwner = !peer.isMember
        var role: ControlRole? = isOwner ? .operate : nil
        if !isOwner, let group, isMember(peer, of: group.id) { role = group.role }
        // If the client has ended, the checks above may have read the data of another process with its pid.
        return pidfd < 0 || isAlive(pidfd) ? role : nil
    }

    private func isMember(_ peer: PeerCredentials, of group: UInt32) -> Bool {
        if peer.gid == group { return true }
        return ProcessStatus(pid: peer.pid)?.groups.contains(group) ?? false
    }

    private func isAlive(_ pidfd: Int32) -> Bool {
        var end = pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0)
        return poll(&end, 1, 0) == 0
    }
}

/// A request that changes something, for the log.
package struct ControlVerb: Equatable, Sendable {
    var method: String
    var path: String
    var caller: Caller
    /// The HTTP status of its response.
    var status: Int

    init(method: String, path: String, caller: Caller, status: Int) {
        self.method = method
        self.path = path
        self.caller = caller
        self.status = status
    }

    /// One line, such as "POST /v1/reload by uid 0, pid 7: 200" or "POST /v1/reload by uid 0 at the
    /// dashboard: 200".
    package var sentence: String {
        // The process that asked for the ticket has ended.
        let place = caller.isDashboard ? " at the dashboard" : ", pid \(caller.peer.pid)"
        return "\(method) \(path) by uid \(caller.peer.uid)\(place): \(status)"
    }
}
