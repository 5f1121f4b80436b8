// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import UnixSignals

/// Runs the station and the daemon together, and compares their records at the end.
package struct Player: Sendable {
    /// The settings of a play.
    package struct Setting: Sendable {
        /// The `bghost` program.
        package var bghost: String
        /// The path of the manifest, which must expect the station on `port`.
        package var config: String
        /// The folder with the photos to upload.
        package var spool: String
        package var port = StationServer.defaultPort
        /// Whether to keep the daemon's state directory.
        package var keepsState = false
        /// The maximum duration of the play, from the start of the daemon to the end of the last run.
        package var timeout = Duration.seconds(180)
        /// The maximum time without a run while a run is still expected.
        package var quiet = Duration.seconds(15)
        /// The maximum time from SIGTERM to the end of the daemon.
        package var drain = Duration.seconds(15)

        package init(bghost: String, config: String, spool: String) {
            self.bghost = bghost
            self.config = config
            self.spool = spool
        }
    }

    /// The exit statuses of a play.
    package enum Status {
        package static let agreed: Int32 = 0
        package static let disagreed: Int32 = 1
        package static let inputMissing: Int32 = 66
        package static let cannotCreate: Int32 = 73
    }

    /// The outputs for the answer and for everything else, line by line.
    package struct Output: Sendable {
        package var answer: @Sendable (String) -> Void
        package var answerStyle: TerminalStyle
        package var comment: @Sendable (String) -> Void
        package var commentStyle: TerminalStyle

        package init(
            answer: @escaping @Sendable (String) -> Void,
            answerStyle: TerminalStyle,
            comment: @escaping @Sendable (String) -> Void,
            commentStyle: TerminalStyle
        ) {
            self.answer = answer
            self.answerStyle = answerStyle
            self.comment = comment
            self.commentStyle = commentStyle
        }
    }

    private let setting: Setting
    private let story: Story
    private let cues: [Cue]
    private let recorder: Recorder
    private let mishaps = Mishaps()
    private let output: Output

    package init(
        setting: Setting,
        story: Story = .stormy,
        cues: [Cue] = Cue.stormy,
        recorder: Recorder = Recorder(),
        output: Output
    ) {
        self.setting = setting
        self.story = story
        self.cues = cues
        self.recorder = recorder
        self.output = output
    }

    /// Runs the play.
    ///
    /// - Returns: the exit status; all errors have been printed.
    package func play() async -> Int32 {
        for (what, path, mode) in [
            ("the daemon", setting.bghost, X_OK), ("the manifest", setting.config, R_OK),
        ] where access(path, mode) != 0 {
            return fail(
                Status.inputMissing,
                "\(what) \(path): \(String(cString: strerror(errno)))"
            )
        }
        let spool: [SpooledPhoto]
        do {
            spool = try SpooledPhoto.all(in: setting.spool)
        } catch {
            return fail(
                Status.inputMissing,
                "cannot read the photos of the spool folder \(setting.spool)"
            )
        }
        guard let state = StateDirectory() else {
            return fail(
                Status.cannotCreate,
                "cannot make a state directory: \(String(cString: strerror(errno)))"
            )
        }
        defer {
            if setting.keepsState {
                output.comment("the daemon's state stays in \(state.path)")
            } else {
                state.remove()
            }
        }
        let station = Station(recorder: recorder, mishaps: mishaps)
        let server = StationServer(station: station, port: setting.port)
        Cue.prepare(mishaps)
        do {
            return try await server.run { port in
                output.comment("the station listens on \(StationServer.address):\(port)")
                return await perform(spool: spool, state: state.path)
            }
        } catch let failure as StationServer.Failure {
            return fail(Status.cannotCreate, "\(failure)")
        } catch {
            return fail(Status.disagreed, "the station failed: \(error)")
        }
    }

    private func perform(spool: [SpooledPhoto], state: String) async -> Int32 {
        let log = DaemonLog(style: output.commentStyle, write: output.comment)
        let daemon = Daemon(
            executable: setting.bghost,
            config: setting.config,
            stateDirectory: state,
            drainMax: setting.drain,
            log: log
        )
        let watch = Watch(
            story: story,
            cues: cues,
            client: DaemonClient(executable: setting.bghost, stateDirectory: state),
            limits: Watch.Limits(total: setting.timeout, quiet: setting.quiet),
            recorder: recorder,
            mishaps: mishaps,
            say: { [output] text in
                output.comment("\(output.commentStyle.arrow) \(text)")
            }
        )
        let begun = ContinuousClock.now
        var ending: Daemon.Ending<Watch.End>
        repeat {
            // Trap signals before the daemon starts: it has a process group of its own, and would continue
            // after the player's end by Ctrl-C.
            let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
            do {
                ending = try await daemon.run(killedIf: \.isKill) { [mishaps] in
                    let end = await watch.run(until: signals)
                    // A draining daemon needs its responses to finish; a killed one must not get them.
                    if !end.isKill { mishaps.clear() }
                    return end
                }
            } catch {
                return fail(Status.disagreed, "cannot start \(setting.bghost): \(error)")
            }
            mishaps.clear()
        } while ending.value?.isKill == true && ending.end == .signalled(SIGKILL)
        let elapsed = (ContinuousClock.now - begun) / .seconds(1)

        switch ending.value {
        case .told(let runs, let next):
            let evidence = Evidence(
                runs: runs,
                next: next,
                record: recorder.record,
                spool: spool,
                cuesLeft: watch.cuesLeft,
                daemonEnd: ending.end
            )
            return close(evidence, elapsedSeconds: elapsed)
        case .failed(let reason):
            return fail(Status.disagreed, "the play cannot go on: \(reason)", after: log)
        case .interrupted(let signal):
            return fail(128 + signal, "interrupted; the daemon \(ending.end)")
        case .timedOut:
            let what = "not over after \(seconds(setting.timeout / .seconds(1))): \(watch.state)"
            return fail(Status.disagreed, what, after: log)
        case .killed, nil:
            return fail(
                Status.disagreed,
                "the daemon \(ending.end) before the play was over",
                after: log
            )
        }
    }

    private func close(_ evidence: Evidence, elapsedSeconds: Double) -> Int32 {
        let disagreements = story.disagreements(evidence)
        let table = ClosingTable(story: story, evidence: evidence, style: output.answerStyle)
        for line in table.lines(disagreements: disagreements, elapsedSeconds: elapsedSeconds) {
            output.answer(line)
        }
        return disagreements.isEmpty ? Status.agreed : Status.disagreed
    }

    private func fail(_ status: Int32, _ text: String, after log: DaemonLog? = nil) -> Int32 {
        let style = output.commentStyle
        output.comment("\(style.mark(false)) stormy-station: \(style.shown(text, width: 1000))")
        if let tail = log?.tail {
            output.comment(tail.isEmpty ? "the daemon said nothing" : "the daemon's last lines:")
            for line in tail { output.comment("  \(line)") }
        }
        return status
    }
}
