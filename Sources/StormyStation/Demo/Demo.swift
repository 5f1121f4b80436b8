// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import UnixSignals

/// Runs the station and the daemon until it is stopped, for a look at the dashboard and the commands.
package struct Demo: Sendable {
    /// The settings of a demo.
    package struct Setting: Sendable {
        /// The `bghost` program.
        package var bghost: String
        /// The path of the manifest, which must expect the station on `port`.
        package var config: String
        package var port = StationServer.defaultPort
        /// The maximum time from the start of the daemon until it serves its pages.
        package var start = Duration.seconds(120)
        /// The maximum time from SIGTERM to the end of the daemon.
        package var drain = Duration.seconds(15)

        package init(bghost: String, config: String) {
            self.bghost = bghost
            self.config = config
        }
    }

    /// The task that the demo pauses, if the manifest has it.
    static let pausedTask = "com.example.demo.paused"

    private let setting: Setting
    private let output: Player.Output
    private let mishaps = Mishaps()

    package init(setting: Setting, output: Player.Output) {
        self.setting = setting
        self.output = output
    }

    /// The end of the time in which the daemon runs.
    private enum End: Sendable {
        /// A signal; the demo was on.
        case stopped
        case notStarted(String)
    }

    /// Runs the demo until SIGINT, SIGTERM or SIGHUP.
    ///
    /// - Returns: the exit status; all errors have been printed.
    package func run() async -> Int32 {
        for (what, path, mode) in [
            ("the daemon", setting.bghost, X_OK), ("the manifest", setting.config, R_OK),
        ] where access(path, mode) != 0 {
            return fail(
                Player.Status.inputMissing,
                "\(what) \(path): \(String(cString: strerror(errno)))"
            )
        }
        guard let state = StateDirectory() else {
            return fail(
                Player.Status.cannotCreate,
                "cannot make a state directory: \(String(cString: strerror(errno)))"
            )
        }
        defer { state.remove() }
        // Trap signals before anything starts: the daemon has a process group of its own, and would
        // continue after the demo's end by Ctrl-C or with its terminal.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        // The answer to the first upload waits, so that a transfer is under way when people look.
        mishaps.plan(.hold, at: .photo)
        let station = Station(recorder: Recorder(), mishaps: mishaps)
        do {
            return try await StationServer(station: station, port: setting.port).run { port in
                await perform(state: state.path, station: port, until: signals)
            }
        } catch let failure as StationServer.Failure {
            return fail(Player.Status.cannotCreate, "\(failure)")
        } catch {
            return fail(Player.Status.disagreed, "the station failed: \(error)")
        }
    }

    private func perform(
        state: String,
        station: Int,
        until signals: UnixSignalsSequence
    ) async -> Int32 {
        // The terminal is for the link and the commands; `bghost logs` has the log.
        let log = DaemonLog(style: output.commentStyle, write: { _ in })
        let daemon = Daemon(
            executable: setting.bghost,
            config: setting.config,
            stateDirectory: state,
            drainMax: setting.drain,
            log: log
        )
        let client = DaemonClient(executable: setting.bghost, stateDirectory: state)
        let ending: Daemon.Ending<End>
        do {
            ending = try await daemon.run {
                let end = await watch(client, station: station, until: signals)
                if case .stopped = end { output.comment("stopping the daemon") }
                // A draining daemon needs its responses to finish.
                mishaps.clear()
                return end
            }
        } catch {
            return fail(Player.Status.disagreed, "cannot start \(setting.bghost): \(error)")
        }
        switch ending.value {
        case .stopped where ending.end == .exited(0):
            output.comment("the daemon has ended, and its files are removed")
            return Player.Status.agreed
        case .stopped:
            return fail(
                Player.Status.disagreed,
                "told to stop, the daemon \(ending.end)",
                after: log
            )
        case .notStarted(let reason):
            return fail(Player.Status.disagreed, reason, after: log)
        case nil:
            return fail(
                Player.Status.disagreed,
                "the daemon \(ending.end) before it was told to stop",
                after: log
            )
        }
    }

    /// Waits for the pages, prints what to look at, and waits for a signal.
    private func watch(
        _ client: DaemonClient,
        station: Int,
        until signals: UnixSignalsSequence
    ) async -> End {
        await withTaskGroup(of: End?.self) { group in
            group.addTask {
                for await _ in signals { return .stopped }
                return nil
            }
            group.addTask { await introduce(client, station: station) }
            defer { group.cancelAll() }
            while let end = await group.next() {
                if let end { return end }
            }
            return .stopped
        }
    }

    /// - Returns: the reason why the pages cannot be seen.
    private func introduce(_ client: DaemonClient, station: Int) async -> End? {
        let begun = ContinuousClock.now
        while true {
            do {
                let link = try await client.dashboardLink()
                let paused = await pause(client)
                let program = Self.folder(of: setting.bghost)
                let guide = DemoGuide(
                    link: link,
                    programs: program,
                    control: client.controlSocket,
                    station: station,
                    hasPaused: paused
                )
                for line in guide.lines { output.answer(line) }
                return nil
            } catch {
                if Task.isCancelled { return nil }
                guard begun.duration(to: .now) < setting.start else {
                    return .notStarted("the daemon does not serve its pages: \(error)")
                }
            }
            // The daemon reports nothing to others when it begins to serve. The error is the
            // cancellation, which the next query sees.
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    /// - Returns: whether the manifest has the task.
    private func pause(_ client: DaemonClient) async -> Bool {
        do {
            try await client.pause(Self.pausedTask, because: "to show a paused task")
            return true
        } catch {
            output.comment("\(error)")
            return false
        }
    }

    private static func folder(of program: String) -> String {
        URL(filePath: program).standardizedFileURL.deletingLastPathComponent().path
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
