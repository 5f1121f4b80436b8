// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Why an inherited socket cannot be the daemon's control socket.
package enum ListeningSocketError: Error, Equatable, Sendable, CustomStringConvertible {
    case notOpen(SystemError)
    /// Not a stream socket of the family `AF_UNIX`.
    case otherKind
    /// No process has called `listen`.
    case notListening
    /// The socket has no path: clients could not find it, and no permissions would protect it.
    case withoutPath

    package var description: String {
        switch self {
        case .notOpen(let error): error.description
        case .otherKind: "it is not a Unix stream socket"
        case .notListening: "it does not listen"
        case .withoutPath: "it has no path in the file system"
        }
    }
}

/// Checks of a socket that another process opened.
package enum ListeningSocket {
    /// The path of a listening Unix stream socket.
    package static func path(of descriptor: Int32) throws(ListeningSocketError) -> String {
        guard try option(SO_DOMAIN, of: descriptor) == AF_UNIX,
            try option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue)
        else { throw .otherKind }
        guard try option(SO_ACCEPTCONN, of: descriptor) == 1 else { throw .notListening }
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let answer = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &length)
            }
        }
        guard answer == 0 else { throw failure }
        let path = withUnsafeBytes(of: address.sun_path) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        // The name of an abstract socket begins with a zero byte.
        guard path.hasPrefix("/") else { throw .withoutPath }
        return path
    }

    private static func option(
        _ name: Int32,
        of descriptor: Int32
    ) throws(ListeningSocketError) -> Int32 {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 else {
            // A file or pipe is open, but it is no socket.
            throw errno == ENOTSOCK ? .otherKind : failure
        }
        return value
    }

    private static var failure: ListeningSocketError {
        .notOpen(SystemError("look at the inherited socket", code: errno))
    }
}
