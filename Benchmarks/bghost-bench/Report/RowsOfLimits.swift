// SPDX-License-Identifier: Apache-2.0

extension Row {
    /// Cancels and kills.
    static var stops: [Row] {
        [
            Row(
                name: "end of runtime to onCancel",
                unit: "us",
                subject: Source(step: .subject("expiry", 60), metric: "p50"),
                floor: Floor(
                    name: "C timerfd, then a seqpacket",
                    source: Source(step: .floor("cancel", count: 100), metric: "p50")
                )
            )
        ]
    }

    /// Each against two floors: a victim as large as a worker, to which the target belongs, because the
    /// kernel takes a process down page by page; and a small one, to see what that makes.
    static func kills(_ options: BenchOptions) -> [Row] {
        let large = options.files + "/daemon-foundation"
        func kill(_ how: String, _ victim: [String]) -> Step {
            Step(program: .floors, words: ["kill", how] + victim, count: 100)
        }
        func group(_ victim: [String]) -> Step {
            Step(program: .floors, words: ["kill-group"] + victim, count: 50)
        }
        func rows(
            _ name: String,
            _ subject: Step,
            _ metric: String,
            _ target: Double,
            _ reason: String,
            _ floor: String,
            _ step: ([String]) -> Step
        ) -> [Row] {
            [("\(floor), of static Swift", [large]), ("\(floor), of a small C child", [])].map {
                floor,
                victim in
                Row(
                    name: name,
                    unit: "us",
                    subject: Source(step: subject, metric: metric),
                    floor: Floor(name: floor, source: Source(step: step(victim), metric: metric)),
                    target: victim.isEmpty ? nil : .atMost(target),
                    reason: reason
                )
            }
        }
        return rows(
            "kill, idle",
            .subject("kill", 60, "idle"),
            "p50",
            1.2,
            "beside the kill a run ends here: its record is stored and the waiting client gets it",
            "timerfd, SIGKILL, pidfd"
        ) { kill("idle", $0) }
            + rows(
                "kill p99, every core busy",
                .subject("kill", 60, "busy"),
                "p99",
                1.5,
                "what waits for the run's end and what starts its worker are no real-time threads",
                "the same, real-time, raised"
            ) { kill("raised", $0) }
            + rows(
                "kill a tree of ten",
                .subject("kill-tree", 30),
                "p50",
                1.5,
                "as the idle kill",
                "kill of a group of ten"
            ) { group($0) }
    }

    /// The daemon as it is shipped, idle.
    static func daemon(_ options: BenchOptions) -> [Row] {
        let daemon = Step.subject(
            "ready",
            10,
            "listening on",
            options.programs + "/bghost",
            "--config",
            DaemonManifest.path(options),
            "--state-dir",
            options.files + "/state",
            "--log-format",
            "text"
        )
        func floor(_ name: String) -> Step {
            .subject("ready", 10, "ready", "\(options.files)/\(name)")
        }
        let swift = (name: "static Swift, no Foundation", step: floor("daemon-swift"))
        let foundation = (name: "static Swift, Foundation", step: floor("daemon-foundation"))
        func row(
            _ name: String,
            _ unit: String,
            _ metric: String,
            _ scale: Double,
            _ floor: (name: String, step: Step),
            _ target: Double?,
            _ reason: String = ""
        ) -> Row {
            Row(
                name: name,
                unit: unit,
                subject: Source(step: daemon, metric: metric, scale: scale),
                floor: Floor(
                    name: floor.name,
                    source: Source(step: floor.step, metric: metric, scale: scale)
                ),
                target: target.map { .atMost($0) },
                reason: reason
            )
        }
        let libraries =
            "the control socket is an HTTP server, and the transfers an HTTP client with TLS: their"
            + " libraries are most of the program"
        return [
            row("daemon, exec to ready", "ms", "p50", 1e-3, foundation, 2, libraries),
            row("daemon, exec to ready", "ms", "p50", 1e-3, swift, nil),
            row("daemon RSS, idle", "KiB", "rss-kib", 1, foundation, 1.5, libraries),
            row("daemon RSS, idle", "KiB", "rss-kib", 1, swift, nil),
            row("daemon private dirty, idle", "KiB", "dirty-kib", 1, foundation, 3, libraries),
            row("daemon private dirty, idle", "KiB", "dirty-kib", 1, swift, nil),
        ]
    }

    /// Each of eight workers that wait.
    static func workers(_ options: BenchOptions) -> [Row] {
        let reason =
            "there is no fork server yet: each worker relocates its program and its plugin for itself"
        return [
            ("C", "c", options.files + "/bench.so"),
            ("Swift", "swift", options.programs + "/libBenchSwift.so"),
        ]
        .flatMap { language, word, library in
            ["PSS": "pss-kib", "RSS": "rss-kib"].sorted { $0.key < $1.key }.map { name, metric in
                Row(
                    name: "\(name) per \(language) worker",
                    unit: "KiB",
                    subject: Source(step: .subject("workers", 8, word), metric: metric),
                    floor: Floor(
                        name: "fork with the plugin loaded",
                        source: Source(step: .floor("zygote-memory", library), metric: metric)
                    ),
                    target: metric == "pss-kib" ? .atMost(1.5) : nil,
                    reason: reason
                )
            }
        }
    }
}
