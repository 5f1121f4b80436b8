// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import Glibc

/// The credentials of a client, as recorded by the kernel when it connected.
///
/// The layout is that of the kernel's `struct ucred`, which glibc declares only for `_GNU_SOURCE`.
package struct PeerCredentials: Equatable, Sendable {
    package var pid: Int32 = 0
    package var uid: UInt32 = 0
    var gid: UInt32 = 0

    init(pid: Int32 = 0, uid: UInt32 = 0, gid: UInt32 = 0) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
    }

    /// Whether the user may connect only as a member of the control group, as neither root nor the daemon's
    /// user.
    ///
    /// Members share a part of what is limited, so that the operator always has the other part.
    var isMember: Bool { uid != 0 && uid != geteuid() }
}

/// Addresses of Unix sockets, and blocking calls with them.
enum UnixAddress {
    /// The maximum length of a path, bytes.
    static let pathBytesMax = SocketPath.bytesMax

    /// The result of a connection to a path.
    enum Probe: Equatable {
        /// A process listens; its pid, if the kernel reports it.
        case answered(pid: Int32?)
        case failed(errno: Int32)
    }

    /// Connects and disconnects at once.
    ///
    /// A full backlog counts as an answer.
    ///
    /// - Parameters:
    ///   - wait: how long to wait, milliseconds, until the socket of a process that has ended is closed. A
    ///     child that a killed daemon was about to execute has a copy of it for a moment. The calling thread
    ///     blocks.
    ///   - hasEnded: whether a process has ended.
    static func probe(
        _ path: String,
        deadListenerWait wait: Int64 = 0,
        hasEnded: (_ pid: Int32) -> Bool = hasEnded
    ) -> Probe {
        guard var address = address(path) else { return .failed(errno: ENAMETOOLONG) }
        let fd = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | flags), 0)
        guard fd >= 0 else { return .failed(errno: errno) }
        defer { close(fd) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(fd, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 || errno == EAGAIN else { return .failed(errno: errno) }
        let pid = result == 0 ? peer(of: fd)?.pid : nil
        guard wait > 0, let pid, hasEnded(pid), hangsUp(fd, within: wait) else {
            return .answered(pid: pid)
        }
        return probe(path)
    }

    /// Whether no process has this ID.
    static func hasEnded(_ pid: Int32) -> Bool { kill(pid, 0) != 0 && errno == ESRCH }

    /// Waits until the other end of a connection is closed; a connection that nothing accepted is closed with
    /// the socket that listens.
    ///
    /// - Parameter wait: how long to wait at most, milliseconds.
    private static func hangsUp(_ fd: Int32, within wait: Int64) -> Bool {
        var connection = pollfd(fd: fd, events: 0, revents: 0)
        var count: Int32
        repeat {
            count = poll(&connection, 1, Int32(clamping: wait))
        } while count < 0 && errno == EINTR
        return count > 0
    }

    /// The peer of a connection; for a client, the process that called `listen`.
    private static func peer(of fd: Int32) -> PeerCredentials? {
        var credentials = PeerCredentials()
        var size = socklen_t(MemoryLayout<PeerCredentials>.size)
        guard getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else { return nil }
        return credentials
    }

    private static var flags: UInt32 { SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue }

    private static func address(_ path: String) -> sockaddr_un? {
        guard path.utf8.count <= pathBytesMax else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return address
    }
}
