// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Dispatch
import Glibc
import Synchronization

/// Stands between a host and its server, and cuts their connection in the middle of a message.
final class CuttingProxy: Sendable {
    enum Direction: Int, CaseIterable, Sendable {
        case toServer
        case toClient
    }

    private struct State {
        /// The bytes of each direction since the last call of `count` or `cut`.
        var passed = [0, 0]
        /// Where the next connection is cut.
        var cut: (direction: Direction, after: Int)?
    }

    private let folder: TemporaryDirectory
    private let listener: Int32
    private let server: String
    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameter server: the path of the server's socket.
    init(server: String) throws {
        folder = try TemporaryDirectory()
        self.server = server
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let path = folder.file(".s.PGSQL.5432")
        guard Self.withAddress(path, { bind(listener, $0, $1) }) == 0, listen(listener, 8) == 0
        else { throw SystemCallError(call: "bind", code: errno) }
    }

    deinit { close(listener) }

    /// The folder of the socket, for a connection string.
    var host: String { folder.path }

    /// Counts the bytes from now on, and cuts nothing.
    func count() { state.withLock { $0 = State() } }

    var passed: [Int] { state.withLock(\.passed) }

    /// Cuts the connection after so many more bytes in a direction; later connections are not cut.
    func cut(_ direction: Direction, after bytes: Int) {
        state.withLock { $0 = State(cut: (direction, bytes)) }
    }

    /// Serves one connection after the other on a thread of its own, until ``stop()``.
    func start() {
        DispatchQueue(label: "proxy").async { [self] in
            while true {
                let client = Descriptor.accept(listener)
                guard client >= 0 else { return }
                let upstream = socket(
                    AF_UNIX,
                    Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue),
                    0
                )
                if Self.withAddress(server, { connect(upstream, $0, $1) }) == 0 {
                    forward(client, upstream)
                }
                close(client)
                close(upstream)
                ended.signal()
            }
        }
    }

    /// Waits until a connection has ended for which this was not called yet.
    func waitForEnd() { ended.wait() }

    func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func forward(_ client: Int32, _ upstream: Int32) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            var ready = [client, upstream].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&ready, 2, -1) > 0 else { return }
            for direction in Direction.allCases where ready[direction.rawValue].revents != 0 {
                let (from, to) = direction == .toServer ? (client, upstream) : (upstream, client)
                let count = read(from, &buffer, buffer.count)
                guard count > 0 else { return }
                let allowed = allowed(count, direction)
                guard send(to, buffer, allowed, Int32(MSG_NOSIGNAL)) == allowed, allowed == count
                else { return }
            }
        }
    }

    /// How many of the bytes pass.
    private func allowed(_ count: Int, _ direction: Direction) -> Int {
        state.withLock { state in
            let before = state.passed[direction.rawValue]
            state.passed[direction.rawValue] += count
            guard let cut = state.cut, cut.direction == direction, before + count > cut.after else {
                return count
            }
            state.cut = nil
            return cut.after - before
        }
    }

    private static func withAddress(
        _ path: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
