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
            ),
            Row(
                name: "kill, idle",
                unit: "us",
                subject: Source(step: .subject("kill", 60, "idle"), metric: "p50"),
                floor: Floor(
                    name: "C timerfd, SIGKILL, pidfd",
                    source: Source(step: .floor("kill", "idle", count: 100), metric: "p50")
                ),
                target: .atMost(1.2),
                reason:
                    "the kernel takes down a static Swift program with its plugin: the smallest such"
                    + " program alone takes about three times as long to die as the floor's victim"
            ),
            Row(
                name: "kill p99, every core busy",
                unit: "us",
                subject: Source(step: .subject("kill", 60, "busy"), metric: "p99"),
                floor: Floor(
                    name: "the same, real-time, victim raised",
                    source: Source(step: .floor("kill", "raised", count: 100), metric: "p99")
                ),
                target: .atMost(1.5),
                reason: "as the idle kill, and taking it down needs a processor that is busy"
            ),
            Row(
                name: "kill a tree of ten",
                unit: "us",
                subject: Source(step: .subject("kill-tree", 30), metric: "p50"),
                floor: Floor(
                    name: "C kill of a group of ten",
                    source: Source(step: .floor("kill-group", count: 50), metric: "p50")
                ),
                target: .atMost(1.5),
                reason:
                    "as the idle kill; each child shares the worker's memory, which is taken down for it too"
            ),
        ]
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
