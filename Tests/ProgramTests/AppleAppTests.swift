// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Testing

/// The apps of `Examples/ios`, whose source stands as it does on iOS, in the real daemon with a real
/// server.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct AppleAppTests {
    private let folder: TemporaryDirectory
    private let server: FileServer

    init() throws {
        folder = try TemporaryDirectory()
        server = try FileServer(Array("taken".utf8))
    }

    private func daemon(
        _ name: String,
        sessions: String = "",
        tasks: String,
        environment: [String] = []
    ) throws -> TestDaemon {
        let manifest = try folder.write(
            """
            {"version": 1, "host": {"slots": 8},
             "plugins": {"app": {"library": "\(Artifact.path("lib\(name).so"))",
                                 "permissions": {"network": ["\(server.grant)"], "notify": true}},
                         "teller": {"library": "\(try Fixture.library("stormy-app"))"}},
             "sessions": {\(sessions)},
             "tasks": {"launch": {"plugin": "app"},
                       \(tasks),
                       "tell.*": {"plugin": "teller", "handler": "deliver", "overlap": "allow"}},
             "notifications": {"task": "tell.*"}}
            """,
            to: "tasks.json"
        )
        return try TestDaemon(
            manifest: manifest,
            folder: folder,
            arguments: ["--log-level", "debug"],
            prefix: environment.isEmpty ? [] : ["env"] + environment
        )
    }

    private func json(_ daemon: TestDaemon, _ arguments: String...) throws -> JSONNode {
        let result = try daemon.command(arguments + ["--json"])
        try #require(result.exitCode == 0, "\(result)")
        return try JSONReader.parse(result.output)
    }

    private func trigger(_ daemon: TestDaemon, _ task: String) throws {
        let run = try daemon.command(["trigger", task, "--wait"])
        try #require(run.exitCode == 0, "\(run)")
    }

    /// Writes a file of the app's data, which its screens would write on iOS.
    private func write(_ text: String, to name: String, of daemon: TestDaemon) throws {
        let path = daemon.state + "/data/app/" + name
        let parent = path[..<(path.lastIndex(of: "/") ?? path.endIndex)]
        try #require(try Command.run(["mkdir", "-p", String(parent)]).exitCode == 0)
        try File.write(text.utf8, to: path)
    }

    private func setDefault(_ key: String, to value: String, of daemon: TestDaemon) throws {
        let file = #"{"version":1,"values":{"\#(key)":{"string":{"_0":"\#(value)"}}}}"#
        try write(file, to: "Preferences/standard.json", of: daemon)
    }

    private func text(_ name: String, of daemon: TestDaemon) throws -> String {
        String(decoding: try File.read(daemon.state + "/data/app/" + name), as: UTF8.self)
    }

    /// The requests with a method, by the last part of their targets.
    private func seen(_ method: String) -> [String] {
        server.seen.filter { $0.method == method }.map {
            $0.target.split(separator: "/").last.map(String.init) ?? ""
        }
    }

    @Test func `Podcasts: a refresh downloads new episodes, and a wake keeps and announces them`()
        throws
    {
        defer { server.close() }
        let items = ["one", "two"].map { id in
            """
            {"id": "\(id)", "title": "Episode \(id)", "date_published": "2026-11-0\(id.utf8.count)T06:00:00Z",
             "attachments": [{"url": "http://\(server.grant)/\(id).mp3", "size_in_bytes": 6}]}
            """
        }
        let feed = #"{"title": "Talk", "items": [\#(items.joined(separator: ", "))]}"#
        server.add(Array(feed.utf8), at: "/feed.json")
        server.add(Array("sound1".utf8), at: "/one.mp3")
        server.add(Array("sound2".utf8), at: "/two.mp3")
        let session = "com.example.podcasts.downloads"
        let refresh = "com.example.podcasts.refresh"
        let daemon = try daemon(
            "Podcasts",
            sessions: #""\#(session)": {"plugin": "app"}"#,
            tasks: #""\#(refresh)": {"plugin": "app"}"#
        )
        try trigger(daemon, "launch")
        let pending = try json(daemon, "pending")["requests"]?.array
        #expect(pending?.map { $0["task"]?.string } == [refresh])
        #expect(pending?.first?["earliestBegin"]?.string != nil)

        try setDefault("feed", to: "http://\(server.grant)/feed.json", of: daemon)
        try trigger(daemon, refresh)
        for id in ["one", "two"] {
            #expect(daemon.program.line(containing: "notification `episode-\(id)` of `app`") != nil)
        }
        #expect(try text("Documents/Episodes/one.mp3", of: daemon) == "sound1")
        #expect(try text("Documents/Episodes/two.mp3", of: daemon) == "sound2")

        try trigger(daemon, refresh)
        #expect(seen("GET").sorted() == ["feed.json", "feed.json", "one.mp3", "two.mp3"])
        #expect(daemon.stop() == 0)
    }

    @Test func `Photo backup: a tap sends photos with progress, and the night by a session`()
        throws
    {
        defer { server.close() }
        let session = "com.example.photobackup.uploads"
        let (now, nightly) = ("com.example.photobackup.now", "com.example.photobackup.nightly")
        let daemon = try daemon(
            "PhotoBackup",
            sessions: #""\#(session)": {"plugin": "app", "handler": "urlSession"}"#,
            tasks: """
                "\(now)": {"plugin": "app", "kind": "processing"},
                "\(nightly)": {"plugin": "app", "kind": "processing"}
                """
        )
        try trigger(daemon, "launch")
        let pending = try json(daemon, "pending")["requests"]?.array
        #expect(pending?.map { $0["task"]?.string } == [nightly])

        try setDefault("server", to: "http://\(server.grant)/photos/", of: daemon)
        for name in ["a.jpg", "b.jpg"] {
            try write("photo \(name)", to: "Documents/Photos/\(name)", of: daemon)
        }
        try trigger(daemon, "launch")
        #expect(daemon.program.line(containing: "notification `waiting` of `app`") != nil)
        let tap = try daemon.command(["notify", "act", "waiting", "now"])
        #expect(tap.exitCode == 0, "\(tap)")
        #expect(daemon.program.line(containing: "\(now) succeeded after") != nil)
        #expect(seen("PUT") == ["a.jpg", "b.jpg"])
        let run = try json(daemon, "runs", now)["runs"]?.array?.first
        let phase = run?["progress"]?["phase"]?.string
        #expect(phase?.hasPrefix("Backing up: ") == true, "\(String(describing: run))")

        try write("photo c.jpg", to: "Documents/Photos/c.jpg", of: daemon)
        try trigger(daemon, nightly)
        #expect(daemon.program.line(containing: "urlSession.\(session) succeeded after") != nil)
        #expect(seen("PUT") == ["a.jpg", "b.jpg", "c.jpg"])
        let sent = server.seen.filter { $0.method == "PUT" }
        let bodies = sent.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies == ["photo a.jpg", "photo b.jpg", "photo c.jpg"])
        #expect(sent.last?.headers["x-device"] == "phone")

        // The wake has recorded that the photo was sent.
        try trigger(daemon, nightly)
        #expect(try daemon.command(["logs"]).output.contains("0 photos handed over"))
        #expect(daemon.stop() == 0)
    }

    @Test func `Habits: reminders by the machine's calendar, answered in the background`()
        throws
    {
        defer { server.close() }
        let change = "com.example.habits.daychange"
        let daemon = try daemon(
            "Habits",
            tasks: #""\#(change)": {"plugin": "app"}"#,
            environment: ["TZ=Asia/Tokyo"]
        )
        try trigger(daemon, "launch")
        let pending = try json(daemon, "pending")["requests"]?.array?.first
        #expect(pending?["task"]?.string == change)
        // Midnight in Tokyo.
        let midnight = pending?["earliestBegin"]?.string
        #expect(midnight?.contains("T15:00:00") == true, "\(String(describing: midnight))")

        try trigger(daemon, change)
        #expect(daemon.program.line(containing: "notification `summary` of `app`") != nil)
        let outbox = try json(daemon, "notify", "outbox")["notifications"]?.array
        let ids = outbox?.compactMap { $0["id"]?.string } ?? []
        #expect(ids.sorted() == ["Read", "Walk", "summary"])

        let tap = try daemon.command(["notify", "act", "summary", "done"])
        #expect(tap.exitCode == 0, "\(tap)")
        #expect(daemon.program.line(containing: "Read is done") != nil)
        let found = try Command.run(["find", daemon.state + "/data/app", "-name", "habits.json"])
        let file = try #require(found.output.split(separator: "\n").first)
        let habits = try JSONReader.parse(String(decoding: File.read(String(file)), as: UTF8.self))
        #expect(habits.array?.map { $0["name"]?.string } == ["Read", "Walk"])
        #expect(habits.array?.first?["streak"]?.int64 == 1, "\(habits)")
        #expect(daemon.stop() == 0)
    }
}
