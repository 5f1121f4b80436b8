// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The least client that the control socket has: one connection, one call after the other.
struct UnixClient: ~Copyable {
    private let fd: Int32

    init(_ path: String) throws {
        guard let fd = Self.connect(path) else {
            throw BenchFailure(description: "cannot connect to \(path)")
        }
        self.fd = fd
    }

    deinit { close(fd) }

    static func canConnect(_ path: String) -> Bool {
        guard let fd = connect(path) else { return false }
        close(fd)
        return true
    }

    private static func connect(_ path: String) -> Int32? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < room else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let fd = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(fd, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0 else {
            close(fd)
            return nil
        }
        return fd
    }

    /// Sends a request and returns the body of its answer.
    @discardableResult
    func call(_ method: String, _ path: String, body: String = "") throws -> ArraySlice<UInt8> {
        try Exchange(fd, fields: ["Host: localhost"]).call(method, path, body: body)
    }
}
