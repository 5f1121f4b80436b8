// SPDX-License-Identifier: Apache-2.0

import BghostAPI
@testable import BghostControl
import BghostDispatch
@testable import BghostHost
import BghostNotify
import BghostPolicy
import BghostTestSupport
import Glibc
import Testing

extension Integration.QuestionRouteTests {
    /// The page behind a link only asks, whatever a browser or a scanner of links does with it.
    @Test(.timeLimit(.minutes(5)))
    func `No link to an action changes a later decision`() async throws {
        try await Self.serving { daemon, _, _, _ in
            let host = daemon.host
            let token = try #require(await host.token(of: "told", plugin: "notify"))
            let (port, serving) = try await Self.serveActions(of: host)
            defer { serving.cancel() }
            let name = "127.0.0.1:\(port)"
            let before = await host.picture()
            for (path, host, status) in [
                ("/act/\(token)/x", name, 200), ("/act/\(token)/x?text=yes", name, 200),
                ("/act/\(token)/nosuch", name, 404),
                ("/act/\(String(repeating: "0", count: 32))/x", name, 404),
                ("/act/\(token)/x", "evil.example", 403), ("/act/\(token)", name, 404),
            ] {
                let answer = try Self.ask(port, path, host)
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(path): \(answer)")
                if status == 200 { #expect(answer.contains("<button>X</button>")) }
            }
            let after = await host.picture()
            #expect(after == before, "\(after.difference(from: before))")
        }
    }

    /// Serves the links of a host at a port that nothing else has.
    private static func serveActions(of host: Host) async throws -> (Int, Task<Void, Never>) {
        for _ in 0..<100 {
            let port = try freePort()
            let (results, result) = AsyncStream<Bool>.makeStream()
            let server = ActionServer(
                notifications: host,
                port: port,
                onReady: { result.yield(true) },
                onFailure: { _ in result.yield(false) }
            )
            let serving = Task { await server.run() }
            // Another process may have got the port in between.
            for await isServing in results {
                if isServing { return (port, serving) }
                break
            }
            serving.cancel()
        }
        throw SystemCallError(call: "bind", code: EADDRINUSE)
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        return address
    }

    private static func openSocket() throws -> Int32 {
        let fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try #require(fd >= 0)
        return fd
    }

    private static func freePort() throws -> Int {
        let fd = try openSocket()
        defer { close(fd) }
        var address = address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(fd, $0, length) == 0 && getsockname(fd, $0, &length) == 0
            }
        }
        try #require(isBound)
        return Int(UInt16(bigEndian: address.sin_port))
    }

    private static func ask(_ port: Int, _ path: String, _ host: String) throws -> String {
        let fd = try openSocket()
        defer { close(fd) }
        var address = address(port)
        let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(fd, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        try #require(isOpen)
        let text = "GET \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n"
        try #require(send(fd, text, text.utf8.count, Int32(MSG_NOSIGNAL)) > 0)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(fd, &buffer, buffer.count, 0)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }
}

extension Host {
    /// The token of the links to the actions of a notification.
    fileprivate func token(of id: String, plugin: String) -> String? {
        owners.notifications.outbox?.find(id: id, plugin: plugin).first?.token
    }
}
