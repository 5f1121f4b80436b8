// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// `status` for people at a terminal: what fails, again and again, in their zone, in their width.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(5))) struct StatusWatchTests {
    private let folder: TemporaryDirectory
    private let manifest: String

    init() throws {
        folder = try TemporaryDirectory()
        let library = try Fixture.library("misbehave")
        manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"m": {"library": "\(library)"}, "gone": {"library": "libNowhere.so"}},
             "tasks": {"good": {"plugin": "m", "handler": "succeed"},
                       "bad": {"plugin": "m", "handler": "fail"},
                       "offline": {"plugin": "m", "handler": "succeed",
                                   "requires": {"network": true}}}}
            """,
            to: "tasks.json"
        )
    }

    private func withoutGone() throws -> String {
        let text = String(decoding: try File.read(manifest), as: UTF8.self)
        return try folder.write(
            text.replacing(#", "gone": {"library": "libNowhere.so"}"#, with: ""),
            to: "tasks.json"
        )
    }

    @Test func `Only what fails is shown, and the exit status says whether there is any`() throws {
        let daemon = try TestDaemon(manifest: try withoutGone(), folder: folder)
        #expect(try daemon.command(["trigger", "good", "--wait"]).exitCode == 0)
        let healthy = try daemon.command(["status", "--failing"])
        #expect(healthy.exitCode == 0)
        #expect(healthy.output.hasSuffix("\nnothing fails\n"), "\(healthy.output)")
        #expect(try daemon.command(["trigger", "bad", "--wait"]).exitCode == 1)
        let ill = try daemon.command(["status", "--failing"])
        #expect(ill.exitCode == 5)
        #expect(ill.output.contains("the last run of bad ended as failed"), "\(ill.output)")
        #expect(!ill.output.contains("good") && !ill.output.contains("offline"), "\(ill.output)")
        let json = try daemon.command(["status", "--failing", "--json"])
        #expect(json.exitCode == 5)
        let tasks = try JSONReader.parse(json.output)["tasks"]?.array
        #expect(tasks?.map { $0["id"]?.string } == ["bad"])
        #expect(try daemon.command(["status", "--failing", "good"]).exitCode == 0)
        #expect(daemon.stop() == 0)
    }

    @Test func `A plugin that cannot be used fails too`() throws {
        let daemon = try TestDaemon(manifest: manifest, folder: folder)
        let ill = try daemon.command(["status", "--failing"])
        #expect(ill.exitCode == 5 && ill.output.contains("plugin gone"), "\(ill.output)")
        #expect(daemon.stop() == 0)
    }

    @Test func `A watch draws again in place, until Ctrl-C restores the terminal`() throws {
        let daemon = try TestDaemon(manifest: try withoutGone(), folder: folder)
        let terminal = try Pseudoterminal(
            command: [
                Artifact.path("bghost"), "status", "--watch", "--state-dir", daemon.state,
            ],
            columns: 60,
            rows: 10
        )
        let first = try #require(terminal.read(until: "offline"))
        #expect(terminal.text.hasPrefix("\u{1B}[?1049h\u{1B}[?25l\u{1B}[H"))
        #expect(try daemon.command(["trigger", "bad", "--wait"]).exitCode == 1)
        #expect(terminal.read(until: "the last run of bad", from: first) != nil)
        terminal.press("\u{3}")
        #expect(terminal.end() == 0)
        #expect(terminal.text.hasSuffix("\u{1B}[?25h\u{1B}[?1049l"), "\(terminal.text.suffix(80))")
        #expect(!terminal.text.contains("\u{1B}[2J"))
        #expect(daemon.stop() == 0)
    }

    @Test func `A watch goes on while the daemon is away`() throws {
        let daemon = try TestDaemon(manifest: try withoutGone(), folder: folder)
        let terminal = try Pseudoterminal(
            command: [
                Artifact.path("bghost"), "status", "--watch", "--state-dir", daemon.state,
            ],
            columns: 100,
            rows: 30
        )
        _ = try #require(terminal.read(until: "offline"))
        #expect(daemon.stop() == 0)
        let away = try #require(terminal.read(until: "no daemon"))
        let second = try TestDaemon(manifest: manifest, folder: folder)
        #expect(terminal.read(until: "offline", from: away) != nil)
        terminal.press("\u{3}")
        #expect(terminal.end() == 0)
        #expect(second.stop() == 0)
    }

    @Test func `A watch without a terminal is refused`() throws {
        let daemon = try TestDaemon(manifest: try withoutGone(), folder: folder)
        let refused = try daemon.command(["status", "--watch"])
        #expect(refused.exitCode == 64 && refused.output.isEmpty)
        #expect(refused.error.contains("--watch needs a terminal"), "\(refused.error)")
        #expect(refused.error.contains("bghost logs -f"))
        #expect(try daemon.command(["status", "--watch", "--json"]).exitCode == 64)
        #expect(daemon.stop() == 0)
    }

    @Test func `Times are those of the host's zone, and with --utc of UTC`() throws {
        let daemon = try TestDaemon(manifest: try withoutGone(), folder: folder)
        let pause = [
            "pause", "good", "--until", "2100-01-01T05:00:00Z", "--state-dir", daemon.state,
        ]
        let bghost = Artifact.path("bghost")
        let berlin = try Command.run(["env", "TZ=Europe/Berlin", bghost] + pause)
        #expect(berlin.output.contains("until 2100-01-01T06:00:00.000+01:00"), "\(berlin)")
        let utc = try Command.run(["env", "TZ=Europe/Berlin", bghost] + pause + ["--utc"])
        #expect(utc.output.contains("until 2100-01-01T05:00:00.000Z"), "\(utc)")
        let refused = try Command.run([
            "env", "TZ=Asia/Kolkata", bghost, "trigger", "good", "--state-dir", daemon.state,
        ])
        #expect(refused.error.contains("until 2100-01-01T10:30:00.000+05:30"), "\(refused)")
        let past = ["why", "good", "--at", "1h", "--state-dir", daemon.state]
        let at = try Command.run(["env", "TZ=Europe/Berlin", bghost] + past)
        #expect(at.output.contains("+01:00") || at.output.contains("+02:00"), "\(at)")
        #expect(
            try Command.run(["env", "TZ=Europe/Berlin", bghost] + past + ["--utc"]).output
                .contains("Z")
        )
        // JSON stays as the daemon sends it.
        let json = try Command.run(["env", "TZ=Europe/Berlin", bghost] + pause + ["--json"])
        #expect(json.output.contains("2100-01-01T05:00:00.000Z"), "\(json)")
        #expect(daemon.stop() == 0)
    }
}
