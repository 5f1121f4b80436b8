// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostLinux
internal import Glibc

/// Who may do what at the control socket.
package struct ControlAccess: Sendable {
    /// A group whose members may connect, and what they may do.
    package struct Group: Equatable, Sendable {
        package var id: UInt32
        package var role: ControlRole

        package init(id: UInt32, role: ControlRole) {
            self.id = id
            self.role = role
        }

        /// - Returns: `nil` if the system has no group of this name.
        ///
        /// Asks the system's database, which may block.
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
    ///   - group: `nil` leaves the socket to root and to the user that runs the daemon.
    ///   - isOwnProcess: whether a client is one of the daemon's own workers, or was started by one.
    ///     Called on an event loop, so it must not block.
    package init(
        group: Group? = nil,
        isOwnProcess: @escaping @Sendable (PeerCredentials) -> Bool = { _ in false }
    ) {
        self.group = group
        self.isOwnProcess = isOwnProcess
    }

    var mode: mode_t { group == nil ? 0o600 : 0o660 }
    var owner: gid_t? { group?.id }

    /// What a client may do; `nil` if it may not even connect.
    ///
    /// - Parameter pidfd: of the client, if the kernel has one to give: a number alone could mean
    ///   another process by now.
    package func role(of peer: PeerCredentials, pidfd: Int32) -> ControlRole? {
        // A worker of a daemon that is not root has the daemon's user, and without its walls it could
        // come here and steer the daemon that is to hold it.
        guard !isOwnProcess(peer) else { return nil }
        let isOwner = peer.uid == 0 || peer.uid == geteuid()
        var role: ControlRole? = isOwner ? .operate : nil
        if !isOwner, let group, isMember(peer, of: group.id) { role = group.role }
        // Were it over by now, all of that may have been asked of whoever has its number.
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
    package var method: String
    package var path: String
    package var peer: PeerCredentials
    /// The status of its answer.
    package var status: Int

    package init(method: String, path: String, peer: PeerCredentials, status: Int) {
        self.method = method
        self.path = path
        self.peer = peer
        self.status = status
    }

    /// One line, for instance "POST /v1/reload by uid 0, pid 7: 200".
    package var sentence: String {
        "\(method) \(path) by uid \(peer.uid), pid \(peer.pid): \(status)"
    }
}
