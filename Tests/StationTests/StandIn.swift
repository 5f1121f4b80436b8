// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import FoundationEssentials
import Glibc
import StormyStation

/// A folder with a spool, a manifest, and a script in the place of `bghost`, for endings that the
/// real daemon is built never to have.
struct StandIn {
    let folder: TemporaryDirectory

    /// - Parameters:
    ///   - daemon: shell commands of the daemon; `$STATE` is its state directory.
    ///   - runs: shell commands of `bghost runs`.
    ///   - notify: shell commands of `bghost notify`; `$2` is `outbox` or `act`.
    init(daemon: String, runs: String = Self.runs, notify: String = "exit 3") throws {
        folder = try TemporaryDirectory()
        let script = """
            #!/bin/sh
            HERE=\(folder.path)
            case "$1" in
            runs)
            \(runs)
            exit;;
            pending)
            cat "$HERE/pending.json"
            exit;;
            notify)
            \(notify)
            exit;;
            dashboard)
            exit 3;;
            esac
            while [ $# -gt 0 ]; do [ "$1" = --state-dir ] && STATE=$2; shift; done
            \(daemon)
            """
        try folder.writeProgram(script, to: "bghost")
        try folder.write("{}", to: "tasks.json")
        mkdir(folder.file("spool"), 0o700)
        try folder.write(PhotoTests.bytes, to: "spool/storm.jpg")
        try folder.write("no photo", to: "spool/README")
        try folder.write(Self.report(PlayFixture.runs), to: "runs.json")
        let next = PlayFixture.next[0]
        try folder.write(
            """
            {"requests":[{"task":"other","earliestBegin":null},
            {"task":"com.example.stormy.noon","earliestBegin":"\(next)"}]}
            """,
            to: "pending.json"
        )
    }

    /// A daemon that waits for SIGTERM and drains.
    static let patient = """
        trap 'kill $! 2>&-; echo drained; exit 0' TERM
        echo "ready in $STATE"
        touch "$HERE/ready"
        sleep 3600 & wait $!
        """

    /// Says nothing before the daemon is ready: else it could be told to stop before it has begun.
    static let runs = """
        [ -f "$HERE/ready" ] || exit 3
        cat "$HERE/runs.json"
        """

    var setting: Player.Setting {
        var setting = Player.Setting(
            bghost: folder.file("bghost"),
            config: folder.file("tasks.json"),
            spool: folder.file("spool")
        )
        setting.port = 0
        // These end only what hangs: on a busy machine even a script needs a while.
        (setting.quiet, setting.drain) = (.seconds(120), .seconds(120))
        return setting
    }

    static func report(_ runs: [RunEntry]) -> String {
        let entries = runs.map { run in
            var keys = [
                #""id":"\#(run.id)""#, #""task":"\#(run.task)""#, #""state":"\#(run.state)""#,
            ]
            let texts = [
                ("outcome", run.outcome), ("stopReason", run.stopReason), ("endedAt", run.endedAt),
            ]
            for case (let key, let value?) in texts { keys.append("\"\(key)\":\"\(value)\"") }
            let numbers = [
                ("durationSeconds", run.durationSeconds), ("limitSeconds", run.limitSeconds),
                ("graceSeconds", run.graceSeconds), ("peakMemoryBytes", run.peakMemoryBytes),
            ]
            for case (let key, let value?) in numbers { keys.append("\"\(key)\":\(value)") }
            return "{\(keys.joined(separator: ","))}"
        }
        return #"{"schema":"bghost.runs/1","runs":[\#(entries.joined(separator: ","))]}"#
    }
}
