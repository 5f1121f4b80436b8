// SPDX-License-Identifier: Apache-2.0

extension Row {
    /// What it costs to keep requests.
    static func durable(_ options: BenchOptions) -> [Row] {
        let folder = options.files + "/store"
        let lone = (
            name: "SQLite, one per transaction",
            step: Step.storeFloor("lone", folder, count: 3000)
        )
        let group = Floor(
            name: "SQLite group commit, 64 in flight",
            source: Source(
                step: .storeFloor("group", folder, "64", count: 100_000),
                metric: "per-second"
            )
        )
        func latency(_ name: String, _ step: Step, _ metric: String, _ target: Target?) -> Row {
            Row(
                name: name,
                unit: "us",
                subject: Source(step: step, metric: metric),
                floor: Floor(
                    name: lone.name + ", " + metric,
                    source: Source(step: lone.step, metric: metric)
                ),
                target: target,
                reason: "a request has 21 columns and a line in the journal"
            )
        }
        func rate(_ name: String, _ target: Target, _ reason: String, _ words: Step) -> Row {
            Row(
                name: name,
                unit: "/s",
                subject: Source(step: words, metric: "per-second"),
                floor: group,
                target: target,
                reason: reason
            )
        }
        let store = Step.subject("durable-lone", 3000)
        return [
            latency("durable submit, alone", store, "p50", .atMost(1.15)),
            latency("durable submit, alone", store, "p99", nil),
            latency(
                "the same over the control socket",
                .subject("socket-submit", 2000),
                "p50",
                nil
            ),
            Row(
                name: "a call of the control socket that keeps nothing",
                unit: "us",
                subject: Source(step: .subject("socket-submit", 2000, "version"), metric: "p50")
            ),
            rate(
                "durable submits, 64 in flight",
                .atLeast(0.9),
                "a request is two rows with a checksum and 31 columns, the floor's one of 5",
                .subject("durable-flight", 100_000, "64")
            ),
            rate(
                "submit, run, durable outcome, 64 in flight",
                .atLeast(0.45),
                "a life is two transactions with a sync each, and writes a record of 33 columns with"
                    + " three indexes beside what the floor writes",
                .subject("durable-flight", 50_000, "64", "life")
            ),
        ]
    }

    private static let sizes = [
        (1000, "1k"), (10_000, "10k"), (100_000, "100k"), (1_000_000, "1M"),
    ]

    /// What a pending request costs in memory.
    static var pending: [Row] {
        let metrics = [
            (
                "memory per pending request", "B", "bytes", 4.0,
                "the floor's entry is a date and a number; here are its id, its identifier's text"
                    + " and a table to find it by that"
            ),
            ("insert of a pending request", "ns", "insert", 2.5, "as its memory"),
            (
                "fire of a pending request", "ns", "fire", 2.5,
                "a request goes from the dates to those that are ready, by priority and share"
            ),
        ]
        return metrics.flatMap { name, unit, metric, target, reason in
            sizes.map { count, size in
                Row(
                    name: "\(name), \(size)",
                    unit: unit,
                    subject: Source(step: .subject("pending", count), metric: metric),
                    floor: Floor(
                        name: "C++ priority_queue of 16 B",
                        source: Source(step: .storeFloor("queue", count: count), metric: metric)
                    ),
                    target: count == 1_000_000 ? .atMost(target) : nil,
                    reason: reason
                )
            }
        }
    }

    /// How soon all that was pending is scheduled again.
    static func restarts(_ options: BenchOptions) -> [Row] {
        let rows = sizes.map { count, size in
            Row(
                name: "restart until it schedules, \(size) pending",
                unit: "ms",
                subject: Source(step: .subject("recover", count), metric: "ms"),
                floor: Floor(
                    name: "SQLite scan of the same rows",
                    source: Source(step: .subject("scan", count), metric: "ms")
                ),
                target: count == 1_000_000 ? .atMost(1.2) : nil,
                reason:
                    "each row is checked against its sum and put into the index, beside being read"
            )
        }
        let daemon = Step.subject("restart", 1_000_000, "10000")
        return rows + [
            Row(
                name: "daemon, exec to listening, 1M pending, 10k running",
                unit: "ms",
                subject: Source(step: daemon, metric: "ms"),
                target: .noMore(3000)
            ),
            Row(
                name: "daemon RSS with 1M pending",
                unit: "KiB",
                subject: Source(step: daemon, metric: "rss-kib")
            ),
            Row(
                name: "daemon, idle with 1M pending",
                unit: "% of a core",
                subject: Source(step: daemon, metric: "idle-percent")
            ),
        ]
    }

    /// What waits must not be felt.
    static var waiting: [Row] {
        [(100_000, "100k"), (1_000_000, "1M")].flatMap { count, size in
            [
                ("lateness p50", "us", "p50"), ("lateness p99", "us", "p99"),
                ("idle", "% of a core", "idle-percent"),
            ]
            .map { name, unit, metric in
                Row(
                    name: "\(name), \(size) pending",
                    unit: unit,
                    subject: Source(step: .subject("waiting", count), metric: metric)
                )
            }
        }
    }
}
