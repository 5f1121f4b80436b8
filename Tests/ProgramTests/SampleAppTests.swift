// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

/// What `make run` plays, with the programs of this build.
@Suite(.ownThreads) struct SampleAppTests {
    @Test(.timeLimit(.minutes(10)))
    func `The sample app runs to its end, and app and station agree`() throws {
        let result = try Command.run([
            Artifact.path("stormy-station"), "play", "--bghost", Artifact.path("bghost"),
            "--config", PackageRoot.path + "/Config/tasks.json",
        ])
        #expect(result.exitCode == 0, "\(result.output)\n\(result.error)")
        #expect(result.output.contains("killed(graceExceeded)"))
        #expect(result.output.contains("succeeded (expired)"))
        #expect(result.output.contains("storm.jpg, 1116 + 1117 B, digest verified"))
        #expect(result.error.contains("the user taps the notification"))
        #expect(result.error.contains("the daemon is killed with SIGKILL, and started again"))
        #expect(result.output.contains("both sides agree: 8 runs, 1 forecast, 1 photo"))
    }

    /// By PUT nothing goes on where it stood, so the photo comes in one piece while its run waits for it:
    /// the player sees that, though everything has arrived.
    @Test(.timeLimit(.minutes(10)))
    func `A failed step fails the sample's script`() throws {
        let folder = try TemporaryDirectory()
        let port = try Loopback.freePort()
        let sample = PackageRoot.path + "/Config"
        let manifest = String(decoding: try File.read(sample + "/tasks.json"), as: UTF8.self)
            .replacing("8653", with: "\(port)")
            .replacing(#""tus": true"#, with: #""tus": false"#)
        #expect(try Command.run(["cp", "-r", sample + "/spool", folder.path]).exitCode == 0)
        let result = try Command.run([
            Artifact.path("stormy-station"), "play", "--bghost", Artifact.path("bghost"),
            "--config", try folder.write(manifest, to: "tasks.json"), "--port", "\(port)",
        ])
        #expect(result.exitCode == 1, "\(result.output)\n\(result.error)")
        #expect(result.output.contains("no photo came in two pieces"), "\(result.output)")
        #expect(result.output.contains("urlSession.photos: 0 runs, 1 expected"))
        #expect(result.output.contains("1 upload, cut 0 times"))
        #expect(result.output.contains("\"Photo uploaded\""))
        #expect(!result.output.contains("both sides agree"))
    }

    @Test(.timeLimit(.minutes(5)))
    func `The sample manifest passes the check`() throws {
        let result = try Command.run([
            Artifact.path("bghost"), "check", "--config", PackageRoot.path + "/Config/tasks.json",
        ])
        #expect(result.exitCode == 0, "\(result.output)")
        #expect(result.output.contains("org.bghost.sample.weather-check"))
    }

    /// Release plugins carry the Swift runtime inside.
    ///
    /// The flag for it does not reach libraries in a debug build, so the plugin's own objects are
    /// linked once more here.
    @Test(.timeLimit(.minutes(10)))
    func `A plugin with the Swift runtime inside runs like one without`() throws {
        let folder = try TemporaryDirectory()
        let library = folder.file("libOverrunStatic.so")
        // By their sources: an object of a source that is gone may still lie there.
        let sources = try Command.run([
            "find", PackageRoot.path + "/Plugins/Overrun",
            PackageRoot.path + "/SDK/Sources/BackgroundTasks", "-name", "*.swift",
        ]).output.split(separator: "\n")
        let objects = sources.compactMap { source -> String? in
            guard let name = source.split(separator: "/").last else { return nil }
            let target = source.contains("/Plugins/") ? "Overrun" : "BackgroundTasks"
            return Artifact.path("\(target).build/\(name).o")
        }
        #expect(!objects.isEmpty)
        let link = try Command.run(
            ["swiftc", "-emit-library", "-static-stdlib", "-o", library] + objects + [
                // What the static modules would ask for, had the objects been compiled for them.
                "-lFoundationEssentials", "-l_FoundationCollections", "-l_FoundationCShims",
            ]
        )
        #expect(link.exitCode == 0, "\(link.error)")
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"overrun": {"library": "\(library)"}},
             "tasks": {"a": {"plugin": "overrun", "handler": "overrun.ignore-cancel",
                             "limits": {"runtime": "200ms", "grace": "100ms"}}}}
            """,
            to: "tasks.json"
        )
        let needed = try Command.run(["ldd", library])
        #expect(!needed.output.contains("libswiftCore"))
        let daemon = try TestDaemon(manifest: manifest, folder: folder)
        let run = try daemon.command(["trigger", "a", "--wait"])
        #expect(run.exitCode == 1)
        let runs = try daemon.command(["runs", "--json"])
        #expect(runs.output.contains("killed(graceExceeded)"), "\(runs.output)")
        #expect(daemon.stop() == 0)
    }
}
