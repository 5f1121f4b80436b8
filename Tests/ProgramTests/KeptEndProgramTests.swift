// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import Testing

/// Events of an app's background session that wait for it in the real daemon, which is killed meanwhile.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct KeptEndProgramTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func manifest(_ app: String, _ server: FileServer) throws -> String {
        try folder.write(
            """
            {"version": 1,
             "plugins": {"app": {"library": "\(try SeedLibrary.make(app, in: folder))",
                                 "permissions": {"network": ["\(server.grant)"]}}},
             "sessions": {"photos": {"plugin": "app", "handler": "urlSession"}},
             "tasks": {"download": {"plugin": "app"}, "open": {"plugin": "app"},
                       "idle": {"plugin": "app"}}}
            """,
            to: "tasks.json"
        )
    }

    /// A daemon with an end that no session has taken, killed.
    private func keep(_ server: FileServer) throws {
        let daemon = try TestDaemon(manifest: try manifest("Waiting", server), folder: folder)
        let run = try daemon.command([
            "trigger", "download", "--wait", "--parameters", #"{"url":"\#(server.url)"}"#,
        ])
        #expect(run.exitCode == 0, "\(run)")
        #expect(daemon.program.line(containing: "woken for photos") != nil)
        #expect(daemon.program.line(containing: "it is kept until the plugin makes") != nil)
        let list = try daemon.command(["transfers"])
        #expect(list.output.contains("the plugin to make session photos"), "\(list)")
        daemon.program.signal(SIGKILL)
        #expect(daemon.program.end() == -SIGKILL)
    }

    private func expectNone(_ daemon: TestDaemon) throws {
        // The app says that it has an end before the daemon hears that the app has taken it.
        var list = ""
        for _ in 0..<1000 where list != "no transfers\n" {
            list = try daemon.command(["transfers"]).output
        }
        #expect(list == "no transfers\n")
        #expect(daemon.stop() == 0)
        let files = try File.list(daemon.state + "/data/app").filter { $0.hasPrefix("transfer-") }
        #expect(files.isEmpty, "\(files)")
    }

    @Test func `An app that creates its session in a later run gets its ends, after kill -9 too`()
        throws
    {
        let server = try FileServer(Array(repeating: 7, count: 5000))
        defer { server.close() }
        try keep(server)
        let daemon = try TestDaemon(manifest: try manifest("Waiting", server), folder: folder)
        let run = try daemon.command(["trigger", "open", "--wait"])
        #expect(run.exitCode == 0, "\(run)")
        #expect(daemon.program.line(containing: "arrived 5000 bytes") != nil)
        #expect(daemon.program.line(containing: "no more events") != nil)
        try expectNone(daemon)
        #expect(server.seen.count == 1)
    }

    @Test func `An app that creates its session at launch gets its ends in the next run`() throws {
        let server = try FileServer(Array(repeating: 7, count: 5000))
        defer { server.close() }
        try keep(server)
        let daemon = try TestDaemon(manifest: try manifest("Launching", server), folder: folder)
        let run = try daemon.command(["trigger", "idle", "--wait"])
        #expect(run.exitCode == 0, "\(run)")
        #expect(daemon.program.line(containing: "arrived 5000 bytes") != nil)
        try expectNone(daemon)
        #expect(server.seen.count == 1)
    }
}
