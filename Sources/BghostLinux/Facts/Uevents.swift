// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// Receives the kernel's notices that a device of one subsystem has changed.
///
/// Used on the reactor's thread.
package final class Uevents {
    private let subsystem: [UInt8]
    private let socket: Descriptor
    private var buffer = [UInt8](repeating: 0, count: 16 << 10)

    /// The result of reading the socket.
    enum News: Equatable, Sendable {
        case nothing
        /// A device of the subsystem has changed, or may have.
        case wanted
        /// The socket has failed and will report nothing more.
        case broken
    }

    /// - Parameter subsystem: such as `power_supply`.
    init(subsystem: String) throws(SystemError) {
        self.subsystem = Array("SUBSYSTEM=\(subsystem)".utf8)
        socket = Descriptor(
            owning: try checked(
                bgs_netlink_open(BGS_NETLINK_UEVENT, BGS_UEVENT_GROUPS),
                "hear of devices"
            )
        )
    }

    /// A descriptor that is readable while there are messages.
    var fd: Int32 { socket.raw }

    /// Reads a limited number of messages; the socket stays readable for the rest.
    func drain() -> News {
        var news = News.nothing
        for _ in 0..<64 {
            let count = buffer.withUnsafeMutableBytes {
                bgs_netlink_receive(socket.raw, $0.baseAddress, $0.count)
            }
            switch count {
            case 0...:
                if Self.message(buffer[..<count], has: subsystem) { news = .wanted }
            case Int(-EAGAIN): return news
            case Int(-EPERM): continue
            // The kernel dropped some, or a message is longer than any from the kernel.
            case Int(-ENOBUFS), Int(-EMSGSIZE): news = .wanted
            default: return .broken
            }
        }
        return news
    }

    /// Whether a message, whose fields end in a zero byte, has this field.
    package static func message(_ bytes: some Collection<UInt8>, has field: [UInt8]) -> Bool {
        bytes.split(separator: 0).contains { $0.elementsEqual(field) }
    }
}
