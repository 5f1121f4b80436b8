// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

private let mayMount = (try? Command.run(["unshare", "--mount", "true"]).exitCode) == 0

/// Transfers that begin and end while the disk of their journal, or that of the store, is full.
///
/// Only one of the two stands on the full disk, so that only this one can be what fails.
@Suite(
    .ownThreads,
    .enabled(if: mayMount, "mounting needs root")
)
struct FullJournalTests {
    private static let bytes = 256 << 10
    private static let hold = 64 << 10

    private let folder: TemporaryDirectory
    private let small: String
    private let manifest: String
    private let server: FileServer

    init() throws {
        folder = try TemporaryDirectory()
        small = folder.file("small")
        try #require(mkdir(small, 0o700) == 0 && mkdir(folder.file("state"), 0o700) == 0)
        var generator = SeededGenerator(seed: 5)
        server = try FileServer(
            (0..<Self.bytes).map { _ in UInt8.random(in: 0...255, using: &generator) },
            holdAt: Self.hold
        )
        manifest = try folder.write(
            """
            {"version": 1,
             "host": {"audit": {"required": false}},
             "plugins": {"t": {"library": "\(try Fixture.library("transfer"))",
                               "maxPending": {"refresh": 1000},
                               "permissions": {"network": ["\(server.grant)"]}}},
             "sessions": {"s": {"plugin": "t", "handler": "wake"},
                          "r": {"plugin": "t", "handler": "wake"}},
             "tasks": {"begin": {"plugin": "t", "overlap": "allow"},
                       "later.*": {"plugin": "t", "handler": "list"}}}
            """,
            to: "tasks.json"
        )
    }

    /// A small disk for one database; the mounts live as long as the program does.
    private func mount(_ database: String) throws -> RunningProgram {
        // SQLite has its log beside the file.
        let binds = [database, database + "-wal"].map { name in
            let (from, to) = ("\(small)/\(name)", folder.file("state/\(name)"))
            return "touch \(from) \(to); mount --bind \(from) \(to)"
        }
        let holder = try RunningProgram(command: [
            "unshare", "--mount", "sh", "-ec",
            "mount -t tmpfs -o size=2m,mode=700 none \(small); \(binds.joined(separator: "; "))"
                + "; echo mounted >&2; exec sleep 600",
        ])
        try #require(holder.line(containing: "mounted") != nil, "\(holder.lines)")
        return holder
    }

    private func daemon(_ holder: RunningProgram) throws -> TestDaemon {
        try TestDaemon(
            manifest: manifest,
            folder: folder,
            arguments: ["--log-level", "debug"],
            prefix: ["nsenter", "--mount", "--target", String(holder.pid)]
        )
    }

    private func parameters(_ session: String) -> String {
        #"{"url":"\#(server.url)","session":"\#(session)"}"#
    }

    private func ballast(_ holder: RunningProgram) -> String {
        "/proc/\(holder.pid)/root\(small)/ballast"
    }

    /// Fills the small disk to its last byte.
    private func fill(_ holder: RunningProgram) throws {
        let file = open(ballast(holder), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        var size = 1 << 16
        let zeros = [UInt8](repeating: 0, count: size)
        while size > 0 {
            if write(file, zeros, size) <= 0 { size /= 2 }
        }
    }

    private func transfers(_ daemon: TestDaemon) throws -> [JSONNode] {
        let answer = try daemon.command(["transfers", "--json"])
        return try #require(try JSONReader.parse(answer.output)["transfers"]?.array)
    }

    private func expectFailing(_ daemon: TestDaemon) throws {
        let sentence = "the journal of transfers has been failing since"
        let status = try daemon.command(["status"])
        #expect(status.exitCode == 5 && status.output.contains(sentence), "\(status)")
        let json = try JSONReader.parse(try daemon.command(["status", "--json"]).output)
        #expect(json["transferJournal"]?["failingSince"]?.string != nil, "\(json)")
        #expect(json["transferJournal"]?["problem"]?.string?.contains("full") == true, "\(json)")
        #expect(json["transferJournal"]?["waiting"]?.int64 ?? 0 >= 1, "\(json)")
        #expect(json["store"]?["failingSince"]?.string == nil, "\(json)")
        let doctor = try daemon.command(["doctor"])
        #expect(doctor.exitCode == 1 && doctor.output.contains(sentence), "\(doctor)")
        let health = try daemon.command(["health"])
        #expect(health.exitCode != 0 && health.output.contains(sentence), "\(health)")
        let ready = try readiness(daemon)
        #expect(ready.contains(" 503 ") && ready.contains(sentence), "\(ready)")
        let metrics = try daemon.command(["metrics"])
        #expect(metrics.output.contains("\nbghost_transfer_journal_failing 1\n"), "\(metrics)")
    }

    private func expectHealthy(_ daemon: TestDaemon) throws {
        let status = try daemon.command(["status"])
        #expect(!status.output.contains("journal of transfers"), "\(status)")
        #expect(status.exitCode == 0, "\(status)")
        let json = try JSONReader.parse(try daemon.command(["status", "--json"]).output)
        #expect(json["transferJournal"]?["failingSince"]?.string == nil, "\(json)")
        #expect(json["transferJournal"]?["waiting"]?.int64 == 0, "\(json)")
        let doctor = try daemon.command(["doctor"])
        #expect(doctor.output.contains("journal of transfers keeps what it is given"), "\(doctor)")
        let health = try daemon.command(["health"])
        #expect(!health.output.contains("journal of transfers has"), "\(health)")
        let ready = try readiness(daemon)
        #expect(ready.contains(" 200 "), "\(ready)")
        let metrics = try daemon.command(["metrics"])
        #expect(metrics.output.contains("\nbghost_transfer_journal_failing 0\n"), "\(metrics)")
    }

    /// What `/readyz` answers on the control socket.
    private func readiness(_ daemon: TestDaemon) throws -> String {
        let client = try UnixClient(daemon.state + "/control.sock")
        return try client.get("/readyz")
    }

    @Test(.timeLimit(.minutes(10)))
    func `With a full disk no transfer is lost, and its wake comes once`() async throws {
        defer { server.close() }
        let holder = try mount("transfers.sqlite")
        let first = try daemon(holder)
        // The wake waits, so that it cannot come before the next start.
        #expect(try first.command(["pause", "urlSession.s"]).exitCode == 0)
        // Begun with room, ended without.
        let begun = try first.command([
            "trigger", "begin", "--wait", "--parameters", parameters("s"),
        ])
        #expect(begun.exitCode == 0, "\(begun)")
        await server.held()
        try fill(holder)
        // What cannot be kept is refused, and the log says why.
        let refused = try first.command([
            "trigger", "begin", "--wait", "--parameters", parameters("r"),
        ])
        #expect(refused.exitCode == 1, "\(refused)")
        let line = try #require(first.program.line(containing: "cannot be written down"))
        #expect(line.contains("full"), "\(line)")
        #expect(first.program.line(containing: "begin answered -") != nil)
        server.release()
        #expect(first.program.line(containing: "of session s is done") != nil)
        #expect(try transfers(first).map { $0["state"]?.string } == ["done"])
        try expectFailing(first)

        unlink(ballast(holder))
        #expect(first.program.line(containing: "transfers are written down again") != nil)
        // What was refused can be begun again, and the failed run is an operator's to forget.
        let again = try first.command([
            "trigger", "begin", "--wait", "--parameters", parameters("r"),
        ])
        #expect(again.exitCode == 0, "\(again)")
        #expect(first.program.line(containing: "urlSession.r succeeded") != nil)
        try expectHealthy(first)
        #expect(try transfers(first).map { $0["session"]?.string } == ["s"])
        #expect(first.stop() == 0)
        #expect(!first.program.lines.contains { $0.contains("urlSession.s wake") })

        let second = try daemon(holder)
        #expect(try transfers(second).map { $0["state"]?.string } == ["done"])
        #expect(try second.command(["resume", "urlSession.s"]).exitCode == 0)
        #expect(second.program.line(containing: "urlSession.s succeeded") != nil)
        let told = try #require(second.program.line(containing: "told {"))
        #expect(told.contains("done") && told.contains(server.url), "\(told)")
        #expect(second.stop() == 0)
        #expect(second.program.lines.count { $0.contains("wake 1 attempt") } == 1)

        let third = try daemon(holder)
        #expect(try transfers(third).isEmpty)
        #expect(third.stop() == 0)
        #expect(!third.program.lines.contains { $0.contains("wake 1 attempt") })
    }

    @Test(.timeLimit(.minutes(10)))
    func `With a full disk of the store the wake of a transfer waits for room`() async throws {
        defer { server.close() }
        let holder = try mount("bghost.sqlite")
        let daemon = try daemon(holder)
        let begun = try daemon.command([
            "trigger", "begin", "--wait", "--parameters", parameters("s"),
        ])
        #expect(begun.exitCode == 0, "\(begun)")
        await server.held()
        try fill(holder)
        // The store has some pages in reserve.
        let note = #"{"session":"\#(String(repeating: "x", count: 60_000))"}"#
        var isFull = false
        for number in 0..<40 where !isFull {
            let result = try daemon.command([
                "submit", "later.\(number)", "--earliest", "+1h", "--parameters", note,
            ])
            isFull = result.exitCode != 0
        }
        try #require(isFull)
        // Small transactions find room when large ones do not: until some wait.
        var waiting: Int64 = 0
        for number in 0..<60 where waiting < 4 {
            _ = try daemon.command(["pause", "later.\(number)"])
            let status = try JSONReader.parse(try daemon.command(["status", "--json"]).output)
            waiting = status["store"]?["waiting"]?.int64 ?? 0
        }
        try #require(waiting >= 4)
        server.release()
        #expect(daemon.program.line(containing: "session s has ended") != nil)
        let status = try JSONReader.parse(try daemon.command(["status", "--json"]).output)
        #expect(status["store"]?["failingSince"]?.string != nil, "\(status)")
        #expect(!daemon.program.lines.contains { $0.contains("wake 1 attempt") })

        unlink(ballast(holder))
        #expect(daemon.program.line(containing: "the store keeps what it is given again") != nil)
        #expect(daemon.program.line(containing: "urlSession.s succeeded") != nil)
        #expect(daemon.stop() == 0)
        #expect(daemon.program.lines.count { $0.contains("wake 1 attempt") } == 1)
    }
}

/// A client of the control socket that asks once.
struct UnixClient {
    private let socket: Int32

    init(_ path: String) throws {
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let socket = socket
        let isOpen = withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isOpen)
    }

    func get(_ path: String) throws -> String {
        defer { close(socket) }
        let text = "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        try #require(send(socket, text, text.utf8.count, Int32(MSG_NOSIGNAL)) > 0)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while case let count = recv(socket, &buffer, buffer.count, 0), count > 0 {
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
