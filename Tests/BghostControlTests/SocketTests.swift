// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostLinux
@testable import BghostControl
import BghostTestSupport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(5)))
struct SocketTests {
    @Test func `Only the owner may connect`() async throws {
        try await Serving.with { serving in
            let facts = try FileFacts(of: serving.socketPath, followsLinks: false)
            #expect(facts.kind == .socket)
            #expect(facts.permissions == 0o600)
            #expect(facts.owner == geteuid())
            let lock = try FileFacts(of: serving.socketPath + ".lock", followsLinks: false)
            #expect(lock.permissions == 0o600)
        }
    }

    @Test func `Leaves nothing but the lock file`() async throws {
        let folder = try TemporaryDirectory()
        try await Serving.with(in: folder) { serving in
            #expect(Self.entries(of: folder.path) == ["control.sock", "control.sock.lock"])
            _ = try await serving.ask { try await $0.version() }
        }
        #expect(Self.entries(of: folder.path) == ["control.sock.lock"])
    }

    @Test func `Replaces a stale socket`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("control.sock")
        try RawConnection.endedListener(path)
        try #require(try FileFacts(of: path, followsLinks: false).kind == .socket)
        try await Serving.with(in: folder) { serving in
            _ = try await serving.ask { try await $0.status() }
        }
    }

    @Test func `Refuses a second daemon and names the first`() async throws {
        try await Serving.with { serving in
            let second = ControlServer(host: serving.host.control, socketPath: serving.socketPath)
            let fault = await fault { try await second.run() }
            #expect(fault?.code == .socketTaken)
            #expect(fault?.message.contains("process \(getpid()) ") == true)
            // The first one has not been disturbed.
            _ = try await serving.ask { try await $0.status() }
        }
    }

    /// A child that a killed daemon was about to execute has a copy of the lock for a moment.
    @Test func `A daemon waits for the lock of one that is ending`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("control.sock")
        // Linux gives no process this number.
        let name = try folder.write("4194304\n", to: "control.sock.lock")
        let copy = LockFile.open(name)
        try #require(copy >= 0)
        let watch = inotify_init1(Int32(IN_CLOEXEC))
        try #require(inotify_add_watch(watch, name, UInt32(IN_ACCESS)) >= 0)
        async let released: Void = onThread {
            // The new daemon reads who has the lock after it was refused once.
            var event = [UInt8](repeating: 0, count: 4096)
            _ = read(watch, &event, event.count)
            close(copy)
            close(watch)
        }
        let claim = try await onThread {
            // A busy machine may let the other thread wait for long.
            try SocketClaim(path: path, lockWait: 120_000)
        }
        try await released
        #expect(try File.read(name) == Array("\(getpid())\n".utf8))
        withExtendedLifetime(claim) {}
    }

    @Test func `Refuses a listener that holds no lock`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("control.sock")
        let listener = try RawConnection.listener(path)
        defer { close(listener) }
        let fault = try await startFault(path)
        #expect(fault?.code == .socketTaken)
        #expect(fault?.message.contains("process \(getpid()) ") == true)
    }

    @Test func `Leaves what is no socket alone`() async throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write("precious", to: "control.sock")
        let fault = try await startFault(path)
        #expect(fault?.code == .notASocket)
        #expect(try File.read(path) == Array("precious".utf8))
    }

    @Test func `Does not follow a link at the lock`() async throws {
        let folder = try TemporaryDirectory()
        let victim = try folder.write("precious", to: "victim")
        #expect(symlink(victim, folder.file("control.sock.lock")) == 0)
        let fault = try await startFault(folder.file("control.sock"))
        #expect(fault?.code == .socketFolder)
        #expect(try File.read(victim) == Array("precious".utf8))
    }

    @Test(arguments: [mode_t(0o720), 0o702, 0o777, 0o1777])
    func `Refuses a folder that others can write`(mode: mode_t) async throws {
        let folder = try TemporaryDirectory()
        #expect(chmod(folder.path, mode) == 0)
        let fault = try await startFault(folder.file("control.sock"))
        #expect(fault?.code == .socketFolder)
        #expect(fault?.fix == "chmod go-w \(folder.path)")
    }

    @Test func `Accepts a folder that others can read`() async throws {
        let folder = try TemporaryDirectory()
        #expect(chmod(folder.path, 0o755) == 0)
        try await Serving.with(in: folder) { serving in
            _ = try await serving.ask { try await $0.version() }
        }
    }

    @Test func `Says which folder is missing`() async throws {
        let folder = try TemporaryDirectory()
        let fault = try await startFault(folder.file("absent/control.sock"))
        #expect(fault?.code == .socketFolder)
        #expect(fault?.message.contains(folder.file("absent")) == true)
    }

    @Test(arguments: [
        "", "relative.sock", "/", "/tmp/" + String(repeating: "x", count: 99),
        "/tmp/" + String(repeating: "x", count: 89) + "/c",
    ])
    func `Refuses paths that cannot be bound`(path: String) async throws {
        let fault = try await startFault(path)
        #expect(fault?.code == .socketPath)
    }

    @Test func `Takes the longest path`() async throws {
        let folder = try TemporaryDirectory()
        let name = String(repeating: "x", count: 102 - folder.path.utf8.count)
        let path = folder.file(name)
        try #require(path.utf8.count == 103)
        let (ready, isReady) = AsyncStream<Void>.makeStream()
        let host = try await TestHost.start()
        let server = ControlServer(
            host: host.control,
            socketPath: path,
            onReady: { isReady.finish() }
        )
        let serving = Task { try await server.run() }
        for await _ in ready {}
        _ = try await ControlClient.with(socketPath: path) { try await $0.version() }
        serving.cancel()
        _ = await serving.result
        await host.end()
    }

    @Test func `Closes on a peer that may not`() async throws {
        // It is taken for a worker.
        let access = ControlAccess { $0.uid == geteuid() && $0.pid == getpid() }
        try await Serving.with(access: access) { serving in
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send("GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n")
                return connection.receiveAll()
            }
            #expect(answer.isEmpty)
        }
    }

    /// Why a server does not start at a path.
    private func startFault(_ path: String) async throws -> ControlFault? {
        let host = try await TestHost.start()
        let fault = await fault {
            try await ControlServer(host: host.control, socketPath: path).run()
        }
        await host.end()
        return fault
    }

    private static func entries(of path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
