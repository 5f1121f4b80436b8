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
    static func probe(_ path: String) -> Probe {
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
        return .answered(pid: result == 0 ? peer(of: fd)?.pid : nil)
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
