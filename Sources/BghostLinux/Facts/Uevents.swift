// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// The kernel's word that a device of one subsystem has changed.
///
/// Used on the reactor's thread.
package final class Uevents {
    private let subsystem: [UInt8]
    private let socket: Descriptor
    private var buffer = [UInt8](repeating: 0, count: 16 << 10)

    /// What was in the socket.
    package enum News: Equatable, Sendable {
        case nothing
        /// Something of the subsystem has changed, or may have.
        case wanted
        /// There will be no more.
        case broken
    }

    /// - Parameter subsystem: such as `power_supply`.
    package init(subsystem: String) throws(SystemError) {
        self.subsystem = Array("SUBSYSTEM=\(subsystem)".utf8)
        socket = Descriptor(
            owning: try checked(
                bgs_netlink_open(BGS_NETLINK_UEVENT, BGS_UEVENT_GROUPS),
                "hear of devices"
            )
        )
    }

    /// Readable while there are messages.
    package var fd: Int32 { socket.raw }

    /// Takes what is there, at most some at a time: the rest keeps the socket readable.
    package func drain() -> News {
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
            // Some were lost, or one is longer than any that the kernel sends.
            case Int(-ENOBUFS), Int(-EMSGSIZE): news = .wanted
            default: return .broken
            }
        }
        return news
    }

    /// Whether one of a message's fields, which end in a zero byte, is this one.
    package static func message(_ bytes: some Collection<UInt8>, has field: [UInt8]) -> Bool {
        bytes.split(separator: 0).contains { $0.elementsEqual(field) }
    }
}
