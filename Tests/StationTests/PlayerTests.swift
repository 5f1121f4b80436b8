// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import HTTPTypes
import HummingbirdTesting
import StormyStation
import Testing

// Not `.ownThreads`: see `onPool`, where the station's server must run.
@Suite(.timeLimit(.minutes(5))) struct PlayerTests {
    /// What a play has said and how it ended.
    struct Played {
        var status: Int32
        var answer: [String]
        var comments: [String]

        /// The folder that the stand-in was given.
        var stateDirectory: String? {
            let marker = "  bghost | ready in "
            let line = comments.first { $0.hasPrefix(marker) }
            return line.map { String($0.dropFirst(marker.count)) }
        }

        func comments(_ text: String) -> Bool { comments.contains { $0.contains(text) } }
    }

    private func play(
        _ setting: Player.Setting,
        cues: [Cue] = [],
        recorder: Recorder = Recorder()
    ) async -> Played {
        let answer = DaemonLogTests.Lines()
        let comments = DaemonLogTests.Lines()
        let style = TerminalStyle(unicode: true, colour: false)
        let output = Player.Output(
            answer: answer.append,
            answerStyle: style,
            comment: comments.append,
            commentStyle: style
        )
        let player = Player(setting: setting, cues: cues, recorder: recorder, output: output)
        let status = await player.play()
        return Played(status: status, answer: answer.all, comments: comments.all)
    }

    /// A record as the sample app leaves it, made by requests.
    private func filledRecorder() async throws -> Recorder {
        let station = StationFixture()
        _ = try await station.send(
            .get,
            "/v1/forecast?latitude=1&longitude=1&hourly=weather_code&forecast_hours=12"
        )
        let tus = ["Tus-Resumable": "1.0.0"]
        let create = [
            "Upload-Length": "3", "Upload-Metadata": "filename c3Rvcm0uanBn",
            "Repr-Digest": "sha-256=:\(PhotoTests.base64):",
        ]
        _ = try await station.send(.post, "/photos", fields: tus.merging(create) { $1 })
        for (offset, bytes) in [
            ("0", PhotoTests.bytes.prefix(1)), ("1", PhotoTests.bytes.dropFirst()),
        ] {
            let append = [
                "Upload-Offset": offset, "Content-Type": "application/offset+octet-stream",
            ]
            let fields = tus.merging(append) { $1 }
            _ = try await station.send(.patch, "/uploads/1", fields: fields, body: Array(bytes))
        }
        for title in ["A storm is coming", "Photo uploaded"] {
            _ = try await station.send(.post, "/t", fields: ["Title": title], body: [])
        }
        return station.recorder
    }

    @Test func `The play ends well when both sides agree`() async throws {
        let standIn = try StandIn(daemon: StandIn.patient)
        let played = await play(standIn.setting, recorder: try await filledRecorder())
        #expect(played.status == 0)
        #expect(played.answer.count == 11)
        #expect(played.answer.last?.hasPrefix("✓ both sides agree: 8 runs") == true)
        #expect(played.comments("  bghost | drained"))
        #expect(played.comments("the station listens on 127.0.0.1:"))
        let state = try #require(played.stateDirectory)
        #expect(throws: SystemCallError.self) { try File.list(state) }
    }

    @Test func `The play fails when the sides disagree`() async throws {
        let standIn = try StandIn(daemon: StandIn.patient)
        let played = await play(standIn.setting)
        #expect(played.status == 1)
        #expect(played.answer.contains("✗ the station was asked for 0 forecasts, 1 expected"))
        #expect(played.answer.last == "✗ the two sides do not agree: 4 disagreements")
    }

    @Test func `Says what it never came to`() async throws {
        let standIn = try StandIn(daemon: StandIn.patient)
        let cues = Cue.stormy.filter(\.kills)
        let recorder = try await filledRecorder()
        let played = await play(standIn.setting, cues: cues, recorder: recorder)
        #expect(played.status == 1)
        let text = "✗ the play never came to this: that run is over: the daemon is killed"
        #expect(played.answer.contains { $0.hasPrefix(text) }, "\(played.answer)")
    }

    @Test func `Keeps the state when asked`() async throws {
        let standIn = try StandIn(daemon: #"touch "$STATE/store"; "# + StandIn.patient)
        var setting = standIn.setting
        setting.keepsState = true
        let played = await play(setting, recorder: try await filledRecorder())
        let state = try #require(played.stateDirectory)
        #expect(try File.list(state) == ["store"])
        #expect(played.comments.last == "the daemon's state stays in \(state)")
        #expect(try Command.run(["rm", "-r", state]).exitCode == 0)
    }

    @Test(arguments: [
        ("exit 78", "the daemon exited with 78 before"),
        ("kill -SEGV $$", "the daemon died of signal 11 before"),
    ])
    func `Says how a daemon fell`(command: String, text: String) async throws {
        let standIn = try StandIn(
            daemon: "for n in $(seq 40); do echo line $n; done; printf 'the cause'; \(command)",
            runs: "exit 3"
        )
        let played = await play(standIn.setting)
        #expect(played.status == 1)
        #expect(played.answer.isEmpty)
        #expect(played.comments(text))
        #expect(played.comments("  bghost | line 1"))
        #expect(Array(played.comments.suffix(2)) == ["  line 40", "  the cause"])
    }

    /// The process that the daemon leaves behind holds its output open, and is not waited for.
    @Test(.timeLimit(.minutes(5)))
    func `Kills a daemon that does not drain`() async throws {
        let standIn = try StandIn(
            daemon: """
                trap '' TERM
                sleep 1000 & echo $! > "$HERE/orphan"
                touch "$HERE/ready"
                exec sleep 1000
                """
        )
        var setting = standIn.setting
        setting.drain = .milliseconds(100)
        let played = await play(setting, recorder: try await filledRecorder())
        #expect(played.status == 1)
        let text = "✗ the daemon did not drain: told to stop, it was killed (signal 9)"
        #expect(played.answer.contains(text))
        let written = try File.read(standIn.folder.file("orphan")).dropLast()
        let orphan = try #require(pid_t(String(decoding: written, as: UTF8.self)))
        // Had the player waited for the end of the output, there would be no such process now.
        #expect(kill(orphan, SIGKILL) == 0, "the player waited for what the daemon left behind")
    }

    @Test(arguments: [
        ("echo no daemon >&2; exit 3", "bghost runs exited with 3: no daemon"),
        ("echo '{}'", "bghost runs prints what is not a report of runs: schema is missing"),
        ("kill -ABRT $$", "bghost runs died of signal 6"),
    ])
    func `Times out on a daemon that does not answer`(runs: String, text: String) async throws {
        let standIn = try StandIn(daemon: StandIn.patient, runs: runs)
        var setting = standIn.setting
        // Long enough for a program to start and end on a busy machine.
        setting.timeout = .seconds(15)
        let played = await play(setting)
        #expect(played.status == 1)
        #expect(played.comments("not over after 15 s: the daemon is not ready: \(text)"))
        #expect(played.comments.contains("the daemon's last lines:"))
    }

    @Test func `Times out on a run that does not end`() async throws {
        let standIn = try StandIn(daemon: StandIn.patient)
        var runs = PlayFixture.runs
        runs[3].state = "cancelling"
        try standIn.folder.write(StandIn.report(runs), to: "runs.json")
        var setting = standIn.setting
        // Long enough for a program to start and end on a busy machine.
        setting.timeout = .seconds(15)
        let played = await play(setting)
        #expect(played.status == 1)
        #expect(played.comments("com.example.stormy.overrun is cancelling"))
    }

    /// The runs up to the first notification, with which the tap is due.
    private static var untilTheTap: [RunEntry] { Array(PlayFixture.runs.prefix(4)) }

    @Test func `Taps the notification`() async throws {
        let standIn = try StandIn(
            daemon: StandIn.patient,
            notify: """
                [ "$2" = act ] || { cat "$HERE/outbox.json"; exit; }
                echo "$3 $4" >> "$HERE/acts"
                mv "$HERE/all.json" "$HERE/runs.json"
                """
        )
        let outbox = #"{"notifications":[{"id":"n7","title":"A storm is coming","state":"x"}]}"#
        try standIn.folder.write(outbox, to: "outbox.json")
        try standIn.folder.write(StandIn.report(PlayFixture.runs), to: "all.json")
        try standIn.folder.write(StandIn.report(Self.untilTheTap), to: "runs.json")
        let played = await play(standIn.setting, cues: [.tap], recorder: try await filledRecorder())
        #expect(played.status == 0, "\(played.answer) \(played.comments)")
        #expect(played.comments("▸ the user taps the notification"))
        let acts = String(decoding: try File.read(standIn.folder.file("acts")), as: UTF8.self)
        #expect(acts == "n7 upload\n")
    }

    @Test(arguments: [
        ("echo no notification >&2; exit 4", "bghost notify exited with 4: no notification"),
        ("echo []", "bghost notify prints what is not its report"),
        (#"echo '{"notifications":[]}'"#, #"does not list "A storm is coming""#),
    ])
    func `Says that it cannot go on`(notify: String, text: String) async throws {
        let standIn = try StandIn(daemon: StandIn.patient, notify: notify)
        try standIn.folder.write(StandIn.report(Self.untilTheTap), to: "runs.json")
        let played = await play(standIn.setting, cues: [.tap], recorder: try await filledRecorder())
        #expect(played.status == 1)
        #expect(played.comments("✗ stormy-station: the play cannot go on: "))
        #expect(played.comments(text))
        #expect(played.answer.isEmpty)
    }

    @Test func `Does not wait for what will not come`() async throws {
        let standIn = try StandIn(daemon: StandIn.patient)
        try standIn.folder.write(StandIn.report(PlayFixture.runs.dropLast()), to: "runs.json")
        var setting = standIn.setting
        setting.quiet = .milliseconds(300)
        let played = await play(setting, recorder: try await filledRecorder())
        #expect(played.status == 1)
        #expect(played.answer.contains("✗ com.example.stormy.notify: 1 run, 2 expected"))
    }

    @Test(arguments: ["bghost", "tasks.json", "spool"])
    func `Says which input is missing`(name: String) async throws {
        let standIn = try StandIn(daemon: StandIn.patient)
        let gone = standIn.folder.file("gone")
        #expect(try Command.run(["mv", standIn.folder.file(name), gone]).exitCode == 0)
        let played = await play(standIn.setting)
        #expect(played.status == 66)
        #expect(played.comments(standIn.folder.file(name)))
    }

    @Test func `Names the process that holds the port`() async throws {
        let standIn = try StandIn(daemon: "touch \"$HERE/began\"")
        let other = StationServer(station: Station(recorder: Recorder()), port: 0)
        let played = try await other.run { port in
            var setting = standIn.setting
            setting.port = port
            return await play(setting)
        }
        #expect(played.status == 73)
        #expect(played.comments("stop it (kill "))
        #expect(!(try File.list(standIn.folder.path).contains("began")))
    }
}
