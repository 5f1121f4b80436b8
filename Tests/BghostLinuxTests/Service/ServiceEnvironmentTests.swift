// SPDX-License-Identifier: Apache-2.0

@testable import BghostLinux
import BghostTestSupport
import Glibc
import Testing

@Suite struct ServiceEnvironmentTests {
    private func environment(_ variables: [String: String]) -> ServiceEnvironment {
        ServiceEnvironment(process: 7) { variables[$0] }
    }

    @Test func `Without a service manager there is nothing`() {
        let empty = environment([:])
        #expect(empty.notifyAddress == nil && empty.watchdogTimeout == nil)
        #expect(empty.sockets.isEmpty)
        #expect(environment(["NOTIFY_SOCKET": ""]).notifyAddress == nil)
    }

    @Test(
        arguments: [
            (["WATCHDOG_USEC": "3000000"], 3_000_000_000),
            (["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "7"], 3_000_000_000),
            (["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "8"], nil),
            (["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "x"], nil),
            (["WATCHDOG_USEC": "0"], nil), (["WATCHDOG_USEC": "-1"], nil),
            (["WATCHDOG_USEC": "18446744073709551615"], nil),
        ] as [([String: String], UInt64?)]
    )
    func `The watchdog is that of this process`(variables: [String: String], timeout: UInt64?) {
        #expect(environment(variables).watchdogTimeout == timeout)
    }

    @Test func `Inherited sockets have names`() {
        let found = environment([
            "LISTEN_PID": "7", "LISTEN_FDS": "3", "LISTEN_FDNAMES": "control:web",
        ])
        #expect(
            found.sockets == [
                InheritedSocket(descriptor: 3, name: "control"),
                InheritedSocket(descriptor: 4, name: "web"),
                InheritedSocket(descriptor: 5, name: ""),
            ]
        )
    }

    @Test(arguments: [
        ["LISTEN_FDS": "1"], ["LISTEN_PID": "8", "LISTEN_FDS": "1"],
        ["LISTEN_PID": "7", "LISTEN_FDS": "0"], ["LISTEN_PID": "7", "LISTEN_FDS": "-1"],
        ["LISTEN_PID": "7", "LISTEN_FDS": "65"], ["LISTEN_PID": "7", "LISTEN_FDS": "x"],
    ])
    func `Descriptors for another process, or too many, are none`(variables: [String: String]) {
        #expect(environment(variables).sockets.isEmpty)
    }

    // MARK: Sockets

    /// A socket of the family `AF_UNIX`, closed with its owner.
    private struct Socket: ~Copyable {
        let raw: Int32

        init(_ kind: __socket_type, at path: String?, listens: Bool) throws {
            raw = socket(AF_UNIX, Int32(kind.rawValue | SOCK_CLOEXEC.rawValue), 0)
            if let path {
                var name = sockaddr_un()
                name.sun_family = sa_family_t(AF_UNIX)
                withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
                let answer = withUnsafePointer(to: name) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        bind(raw, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                    }
                }
                try #require(answer == 0)
            }
            if listens { try #require(listen(raw, 1) == 0) }
        }

        deinit { close(raw) }
    }

    @Test func `A listening Unix stream socket has a path`() throws {
        let folder = try TemporaryDirectory()
        let socket = try Socket(SOCK_STREAM, at: folder.file("s"), listens: true)
        #expect(try ListeningSocket.path(of: socket.raw) == folder.file("s"))
    }

    @Test func `Other descriptors are refused with the reason`() throws {
        let folder = try TemporaryDirectory()
        let datagrams = try Socket(SOCK_DGRAM, at: folder.file("d"), listens: false)
        #expect(throws: ListeningSocketError.otherKind) {
            try ListeningSocket.path(of: datagrams.raw)
        }
        let silent = try Socket(SOCK_STREAM, at: folder.file("s"), listens: false)
        #expect(throws: ListeningSocketError.notListening) {
            try ListeningSocket.path(of: silent.raw)
        }
        // The kernel gives it an abstract name.
        let nameless = try Socket(SOCK_STREAM, at: nil, listens: false)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        let bound = withUnsafePointer(to: name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(nameless.raw, $0, socklen_t(2))
            }
        }
        try #require(bound == 0 && listen(nameless.raw, 1) == 0)
        #expect(throws: ListeningSocketError.withoutPath) {
            try ListeningSocket.path(of: nameless.raw)
        }
        let internet = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(internet) }
        #expect(throws: ListeningSocketError.otherKind) { try ListeningSocket.path(of: internet) }
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        #expect(throws: ListeningSocketError.otherKind) { try ListeningSocket.path(of: file) }
        #expect(throws: ListeningSocketError.self) { try ListeningSocket.path(of: 1 << 20) }
    }
}
