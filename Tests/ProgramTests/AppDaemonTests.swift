// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import Testing

/// Apps of Apple's source in the real daemon, beside the listings.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct AppDaemonTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test func `Defaults written by several workers survive kill -9`() async throws {
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"app": {"library": "\(try SeedLibrary.make("Defaults", in: folder))"}},
             "tasks": {"tell": {"plugin": "app"},
                       "count": {"plugin": "app", "overlap": "allow", "parameters": {"times": 20}}}}
            """,
            to: "tasks.json"
        )
        let first = try TestDaemon(manifest: manifest, folder: folder)
        let trigger = [
            Artifact.path("bghost"), "trigger", "count", "--wait", "--state-dir", first.state,
        ]
        // As many workers as there are runs.
        async let one = Command.runApart(trigger)
        async let two = Command.runApart(trigger)
        async let three = Command.runApart(trigger)
        for run in try await [one, two, three] { #expect(run.exitCode == 0, "\(run)") }
        first.program.signal(SIGKILL)
        #expect(first.program.end() == -SIGKILL)

        let second = try TestDaemon(manifest: manifest, folder: folder)
        #expect(try second.command(["trigger", "tell", "--wait"]).exitCode == 0)
        let logs = try second.command(["logs"])
        #expect(logs.output.contains("dates 60, launched true, step 1"), "\(logs)")
        #expect(second.stop() == 0)
        let kept = try File.list(second.state + "/data/app/Preferences").sorted()
        #expect(kept == ["standard.json", "standard.json.lock"])
    }

    @Test func `A launch handler on the main queue runs there`() throws {
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"app": {"library": "\(try SeedLibrary.make("MainQueue", in: folder))"}},
             "tasks": {"com.example.main": {"plugin": "app"}}}
            """,
            to: "tasks.json"
        )
        let daemon = try TestDaemon(manifest: manifest, folder: folder)
        let run = try daemon.command(["trigger", "com.example.main", "--wait"])
        #expect(run.exitCode == 0, "\(run)")
        #expect(daemon.stop() == 0)
    }

    @Test func `A task that is cancelled before it was resumed completes, and asks for nothing`()
        throws
    {
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"app": {"library": "\(try SeedLibrary.make("Cancelling", in: folder))"}},
             "sessions": {"photos": {"plugin": "app", "handler": "cancel"}},
             "tasks": {"cancel": {"plugin": "app"}}}
            """,
            to: "tasks.json"
        )
        let daemon = try TestDaemon(manifest: manifest, folder: folder)
        let run = try daemon.command(["trigger", "cancel", "--wait"])
        #expect(run.exitCode == 0, "\(run)")
        let logs = try daemon.command(["logs"]).output
        let ends = logs.split(separator: "\n").filter { $0.contains("completed as cancelled: ") }
        #expect(ends.count == 2 && ends.allSatisfy { $0.hasSuffix("true") }, "\(logs)")
        #expect(try daemon.command(["transfers"]).output == "no transfers\n")
        #expect(daemon.stop() == 0)
    }

    @Test(arguments: ["Twice", "Registered"])
    func `Two handlers of one identifier: the plugin is refused, and the identifier named`(
        app: String
    ) throws {
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"app": {"library": "\(try SeedLibrary.make(app, in: folder))"}},
             "tasks": {"com.example.twice": {"plugin": "app"}}}
            """,
            to: "tasks.json"
        )
        let sentence = #"it has two handlers named "com.example.twice". A task could mean either"#
        let check = try Command.run([Artifact.path("bghost"), "check", "--config", manifest])
        #expect(check.exitCode == 78)
        #expect(check.output.contains(sentence), "\(check)")
        let daemon = try TestDaemon(manifest: manifest, folder: folder)
        let run = try daemon.command(["trigger", "com.example.twice", "--wait"])
        #expect(run.exitCode == 1)
        #expect((run.output + run.error).contains(sentence), "\(run)")
        #expect(daemon.stop() == 0)
    }
}
