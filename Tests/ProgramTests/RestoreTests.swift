// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// `bghost backup` of a real daemon, and `bghost restore`.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct RestoreTests {
    private let folder: TemporaryDirectory
    private let backup: String

    init() throws {
        folder = try TemporaryDirectory()
        backup = folder.file("backup")
    }

    private func daemon() throws -> TestDaemon {
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"witness": {"library": "\(try Fixture.library("misbehave"))"}},
             "sessions": {"photos": {"plugin": "witness", "handler": "succeed"}},
             "tasks": {"echo": {"plugin": "witness"}}}
            """,
            to: "tasks.json"
        )
        return try TestDaemon(manifest: manifest, folder: folder)
    }

    private func restore(_ arguments: [String]) throws -> Command.Result {
        try Command.run([Artifact.path("bghost"), "restore"] + arguments)
    }

    private func note(in state: String) throws -> String {
        String(decoding: try File.read(state + "/data/witness/note"), as: UTF8.self)
    }

    private func submit(_ daemon: TestDaemon) throws -> String {
        let end = try daemon.command(["submit", "echo", "--earliest", "+9h", "--json"])
        let request = try JSONReader.parse(end.output)["request"]
        return try #require(request?["id"]?.string, "\(end)")
    }

    private func pending(_ daemon: TestDaemon) throws -> Set<String> {
        let end = try daemon.command(["pending", "--json"])
        let requests = try #require(try JSONReader.parse(end.output)["requests"]?.array, "\(end)")
        return Set(requests.compactMap { $0["id"]?.string })
    }

    /// A daemon that was backed up with one request and one file, and got another one of each in their place.
    private func backedUp() throws -> (kept: String, later: String, state: String) {
        let first = try daemon()
        let kept = try submit(first)
        #expect(try first.command(["trigger", "echo", "--wait"]).exitCode == 0)
        let data = first.state + "/data/witness"
        try folder.write("before", to: "state/data/witness/note")
        mkfifo(data + "/pipe", 0o600)
        let end = try first.command(["backup", backup, "--data"])
        #expect(end.exitCode == 0 && end.output.hasSuffix(" to \(backup)\n"), "\(end)")
        #expect(end.error == "1 files of plugins cannot be copied, such as sockets\n")
        #expect(
            try File.list(backup).sorted() == ["bghost.sqlite", "data", "transfers.sqlite"]
        )
        let later = try submit(first)
        try folder.write("after", to: "state/data/witness/note")
        let taken = try restore([backup, "--state-dir", first.state, "--replace"])
        #expect(taken.exitCode == 73, "a daemon uses it: \(taken)")
        #expect(first.stop() == 0)
        return (kept, later, first.state)
    }

    @Test func `A daemon goes on from its backup, and what was there is kept`() throws {
        let (kept, later, state) = try backedUp()
        let refused = try restore([backup, "--state-dir", state])
        let there = ["bghost.sqlite", "transfers.sqlite", "data/witness"].joined(separator: ", ")
        #expect(
            refused.error == "error: \(state) has a state already: \(there)\n"
                + "  fix: add --replace to set it aside in a folder beside it\n"
        )
        #expect(refused.exitCode == 1)

        let restored = try restore([backup, "--state-dir", state, "--replace"])
        #expect(restored.exitCode == 0, "\(restored)")
        #expect(
            restored.output.hasPrefix("restored the store, the transfers, the data of witness: "),
            "\(restored)"
        )
        #expect(try note(in: state) == "before")
        let second = try daemon()
        #expect(try pending(second) == [kept])
        #expect(try second.command(["runs", "echo"]).output.contains("succeeded"))
        #expect(second.stop() == 0)

        // What was set aside is a state as well.
        let aside = try #require(try File.list(state).first { $0.hasPrefix("replaced-") })
        #expect(restored.error.contains(state + "/" + aside), "\(restored)")
        #expect(try note(in: "\(state)/\(aside)") == "after")
        let back = try restore(["\(state)/\(aside)", "--state-dir", state, "--replace"])
        #expect(back.exitCode == 0, "\(back)")
        let third = try daemon()
        #expect(try pending(third) == [later])
        #expect(third.stop() == 0)
    }

    @Test func `A backup goes into a folder of another machine`() throws {
        let (kept, _, old) = try backedUp()
        let state = folder.file("other/state")
        let restored = try restore([backup, "--state-dir", state])
        #expect(restored.exitCode == 0 && restored.error == "", "\(restored)")
        _ = try Command.run(["rm", "-rf", old])
        _ = try Command.run(["mv", state, old])
        let second = try daemon()
        #expect(try pending(second) == [kept])
        #expect(second.stop() == 0)
    }

    @Test(arguments: ["absent", "damaged", "newer", "foreign", "link", "empty", "transfers"])
    func `What is no backup is refused and changes nothing`(fault: String) throws {
        let (_, later, state) = try backedUp()
        let store = backup + "/bghost.sqlite"
        let text: String
        switch fault {
        case "absent":
            unlink(store)
            text = "is no backup"
        case "damaged":
            var bytes = try File.read(store)
            for offset in stride(from: 4096, to: bytes.count, by: 512) { bytes[offset] ^= 0x5A }
            try File.write(bytes, to: store)
            text = "bghost.sqlite"
        case "newer":
            _ = try Command.run(["sqlite3", store, "PRAGMA user_version = 99"])
            text = "written by a newer bghost (format 99"
        case "foreign":
            _ = try Command.run(["sqlite3", store, "PRAGMA application_id = 7"])
            text = "database of another program"
        case "link":
            _ = try Command.run(["mv", store, folder.file("elsewhere")])
            symlink(folder.file("elsewhere"), store)
            text = store
        case "empty":
            try File.write([], to: store)
            text = "it is empty"
        default:
            let bytes = [UInt8](repeating: 0x5A, count: 8192)
            try File.write(bytes, to: backup + "/transfers.sqlite")
            text = "transfers.sqlite"
        }
        let before = try File.list(state).sorted()
        let refused = try restore([backup, "--state-dir", state, "--replace"])
        #expect(refused.exitCode == 1 && refused.error.contains(text), "\(refused)")
        #expect(try File.list(state).sorted() == before)
        let second = try daemon()
        #expect(try pending(second) == [later])
        #expect(second.stop() == 0)
    }

    @Test func `A backup that was interrupted can be repeated`() throws {
        let first = try daemon()
        _ = try submit(first)
        // As a machine leaves it that lost its power.
        mkdir(backup + ".unfinished", 0o700)
        try File.write([1], to: backup + ".unfinished/bghost.sqlite")
        #expect(try first.command(["backup", backup]).exitCode == 0)
        #expect(access(backup + ".unfinished", F_OK) != 0)
        // A link of another user must not make the daemon remove anything.
        let other = folder.file("other")
        mkdir(other, 0o700)
        try File.write([1], to: other + "/kept")
        symlink(other, backup + "-2.unfinished")
        let refused = try first.command(["backup", backup + "-2"])
        #expect(refused.exitCode == 73 && refused.error.contains("is in the way"), "\(refused)")
        #expect(try File.list(other) == ["kept"])
        let again = try first.command(["backup", backup])
        #expect(again.exitCode == 73 && again.error.contains("exists already"), "\(again)")
        #expect(try File.list(backup).sorted() == ["bghost.sqlite", "transfers.sqlite"])
        #expect(first.stop() == 0)
    }

    @Test func `A backup does not become a part of itself`() throws {
        let first = try daemon()
        let inside = first.state + "/data/witness/backup"
        let refused = try first.command(["backup", inside, "--data"])
        #expect(refused.exitCode == 73 && refused.error.contains("a part of itself"), "\(refused)")
        symlink(first.state + "/data", folder.file("link"))
        let other = try first.command(["backup", folder.file("link/backup"), "--data"])
        #expect(other.exitCode == 73 && other.error.contains("a part of itself"), "\(other)")
        #expect(first.stop() == 0)
    }

    /// Between the two stores there is none, and the lock file tells that there was one.
    @Test func `After half a restore no daemon starts with nothing`() throws {
        let (kept, _, state) = try backedUp()
        mkdir(state + "/replaced-1", 0o700)
        #expect(rename(state + "/bghost.sqlite", state + "/replaced-1/bghost.sqlite") == 0)
        #expect(throws: DaemonFailure.self) { try daemon() }
        let restored = try restore([backup, "--state-dir", state, "--replace"])
        #expect(restored.exitCode == 0, "\(restored)")
        let second = try daemon()
        #expect(try pending(second) == [kept])
        #expect(second.stop() == 0)
    }

    /// As a machine leaves it that loses its power between the copy and the moves.
    @Test func `A daemon does not start where a restore into a new folder was interrupted`() throws
    {
        let (kept, _, state) = try backedUp()
        _ = try Command.run(["mv", state, folder.file("old")])
        _ = try Command.run(["mkdir", "-p", state + "/restore.unfinished", state + "/data/witness"])
        try folder.write("moved", to: "state/data/witness/note")
        let failure = #expect(throws: DaemonFailure.self) { try daemon() }
        let lines = failure?.lines.joined(separator: "\n") ?? ""
        #expect(lines.contains("a restore into \(state) was interrupted"), "\(lines)")
        // A restore that is refused leaves nothing that a daemon starts with either.
        #expect(try restore([backup, "--state-dir", state]).exitCode == 1)
        #expect(throws: DaemonFailure.self) { try daemon() }
        let restored = try restore([backup, "--state-dir", state, "--replace"])
        #expect(restored.exitCode == 0, "\(restored)")
        #expect(access(state + "/restore.unfinished", F_OK) != 0)
        let second = try daemon()
        #expect(try pending(second) == [kept])
        #expect(second.stop() == 0)
    }

    /// Without its write-ahead log a database looks like an older one, and what was accepted since is lost.
    @Test func `A repeated restore sets the whole old state aside in one folder`() throws {
        let (_, _, state) = try backedUp()
        let killed = try daemon()
        let last = try submit(killed)
        killed.program.signal(SIGKILL)
        _ = killed.program.end()
        try #require(access(state + "/bghost.sqlite-wal", F_OK) == 0)
        // As a restore leaves it that is killed between its first two moves.
        let begun = state + "/replaced-1.unfinished"
        _ = try Command.run(["mkdir", state + "/restore.unfinished", begun])
        try #require(rename(state + "/bghost.sqlite", begun + "/bghost.sqlite") == 0)
        let refused = try restore([begun, "--state-dir", folder.file("other")])
        #expect(refused.exitCode == 1 && refused.error.contains("not complete"), "\(refused)")
        let restored = try restore([backup, "--state-dir", state, "--replace"])
        #expect(restored.exitCode == 0, "\(restored)")
        let aside = state + "/replaced-1"
        #expect(restored.error.contains("is in \(aside)\n"), "\(restored)")
        #expect(try File.list(aside).contains("bghost.sqlite-wal"))
        #expect(try File.list(state).filter { $0.hasPrefix("replaced-") } == ["replaced-1"])
        let back = try restore([aside, "--state-dir", state, "--replace"])
        #expect(back.exitCode == 0, "\(back)")
        let third = try daemon()
        #expect(try pending(third) == [last])
        #expect(third.stop() == 0)
    }

    @Test func `A refused restore removes no empty folder`() throws {
        let (_, _, state) = try backedUp()
        let data = state + "/data/witness"
        _ = try Command.run(["rm", "-rf", data])
        try #require(mkdir(data, 0o700) == 0)
        #expect(try restore([backup, "--state-dir", state]).exitCode == 1)
        #expect(try File.list(state + "/data") == ["witness"])
        #expect(try restore([backup, "--state-dir", state, "--replace"]).exitCode == 0)
        #expect(try note(in: state) == "before")
    }

    /// A copy that was interrupted has the names of the plugin's files, which are bytes and not always text.
    @Test func `What a copy has left is removed whatever its names are`() throws {
        let left = folder.file("left")
        let odd: [CChar] = Array((left + "/odd").utf8CString.dropLast()) + [-1, 0]
        try #require(mkdir(left, 0o700) == 0 && mkdir(odd, 0o700) == 0)
        try folder.write([1], to: "left/file")
        try #require(chmod(left, 0o500) == 0)
        let (_, _, state) = try backedUp()
        _ = try Command.run(["mkdir", state + "/restore.unfinished"])
        _ = try Command.run(["cp", "-a", left, state + "/restore.unfinished/left"])
        let restored = try restore([backup, "--state-dir", state, "--replace"])
        #expect(restored.exitCode == 0, "\(restored)")
        #expect(access(state + "/restore.unfinished", F_OK) != 0)
        // The folder of the test removes only what has a name of text.
        _ = try Command.run(["rm", "-rf", left])
    }
}
