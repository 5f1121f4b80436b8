// SPDX-License-Identifier: Apache-2.0

extension Row {
    /// All of them, in the order of the table.
    static func all(_ options: BenchOptions) -> [Row] {
        dispatch + starts(options) + sandboxes + stops + kills(options) + daemon(options)
            + workers(options)
            + durable(options) + pending + growth + restarts(options) + waiting
            + operation(options) + transfers
    }

    private static var dispatch: [Row] {
        let hop = Source(step: .subject("hop", 100_000), metric: "p50")
        let roundTrip = Step.pinned("round-trip", 20_000)
        let socketPair = Step.floor("roundtrip", "stream", "one", count: 50_000)
        return [
            Row(
                name: "in-process run, submit to end",
                unit: "us",
                subject: Source(step: .subject("round-trip", 20_000, "in-process"), metric: "p50"),
                floor: Floor(name: "Swift Task {} and its value", source: hop),
                target: .atMost(1.5),
                reason:
                    "a plugin in the daemon has a thread of its own, so that one that blocks does"
                    + " not stop the daemon: each run wakes two threads, on one processor"
            ),
            Row(
                name: "in-process runs, 256 in flight",
                unit: "/s",
                subject: Source(
                    step: .subject("throughput", 200_000, "in-process"),
                    metric: "per-second"
                ),
                floor: Floor(
                    name: "Swift discarding task group",
                    source: Source(step: .subject("group", 500_000), metric: "per-second")
                ),
                target: .atLeast(1),
                reason:
                    "the same thread, and each run has a record, an id, a limit and a log line's"
                    + " decision, which a bare child task has not"
            ),
            Row(
                name: "limit armed and disarmed",
                unit: "us",
                subject: Source(step: .subject("timer", 2_000_000), metric: "each"),
                floor: Floor(
                    name: "group child in Task.sleep",
                    source: Source(step: .subject("sleep-limit", 20_000), metric: "each")
                ),
                target: .atMost(0.05)
            ),
            Row(
                name: "warm worker, one core, p50",
                unit: "us",
                subject: Source(step: roundTrip, metric: "p50"),
                floor: Floor(
                    name: "C socketpair, one core",
                    source: Source(step: socketPair, metric: "p50")
                ),
                target: .atMost(1.3),
                reason: "beside two context switches a run has a record, an id, a limit, a store"
                    + " commit and a completion frame apart from its release"
            ),
            Row(
                name: "warm worker, one core, p99",
                unit: "us",
                subject: Source(step: roundTrip, metric: "p99"),
                floor: Floor(
                    name: "C socketpair, one core",
                    source: Source(step: socketPair, metric: "p99")
                ),
                target: .atMost(2),
                reason: "as its p50"
            ),
            Row(
                name: "warm worker, free placement",
                unit: "us",
                subject: Source(step: .subject("round-trip", 20_000), metric: "p50"),
                floor: Floor(
                    name: "C seqpacket, free placement",
                    source: Source(
                        step: .floor("roundtrip", "seqpacket", "free", count: 20_000),
                        metric: "p50"
                    )
                ),
                target: .atMost(0.3),
                reason: "as on one core; each streak of runs begins and ends with placing threads"
            ),
            Row(
                name: "warm Swift worker, free placement",
                unit: "us",
                subject: Source(step: .subject("round-trip", 10_000, "swift"), metric: "p50"),
                floor: Floor(
                    name: "C seqpacket, free placement",
                    source: Source(
                        step: .floor("roundtrip", "seqpacket", "free", count: 20_000),
                        metric: "p50"
                    )
                )
            ),
            Row(
                name: "isolated runs, one worker",
                unit: "/s",
                subject: Source(step: .subject("throughput", 400_000), metric: "per-second"),
                floor: Floor(
                    name: "C seqpacket, 256 in flight",
                    source: Source(
                        step: .floor("throughput", "free", count: 400_000),
                        metric: "per-second"
                    )
                ),
                target: .atLeast(0.9),
                reason: "the floor carries bytes; a run has a record, an id, a limit and a commit"
            ),
            Row(
                name: "isolated runs, two workers",
                unit: "/s",
                subject: Source(step: .subject("throughput", 400_000, "two"), metric: "per-second"),
                target: .value(100_000),
                reason: "two workers and the daemon share the processors"
            ),
        ]
    }

    private static func starts(_ options: BenchOptions) -> [Row] {
        let noForkServer =
            "there is no fork server: each worker is a new program that loads its plugin; workers"
            + " that are started ahead hide that"
        func cold(_ language: String, _ count: Int, _ library: String, _ words: String) -> Row {
            Row(
                name: "cold \(language) worker, first instruction",
                unit: "us",
                subject: Source(
                    step: .subject("first-instruction", count, "cold", words),
                    metric: "p50"
                ),
                floor: Floor(
                    name: "fork with the plugin loaded",
                    source: Source(
                        step: .floor("zygote-start", library, count: 200),
                        metric: "p50"
                    )
                ),
                target: .atMost(1.5),
                reason: noForkServer
            )
        }
        func prestarted(_ language: String, _ library: String, _ words: String) -> Row {
            Row(
                name: "prestarted \(language) worker, first instruction",
                unit: "us",
                subject: Source(
                    step: .subject("first-instruction", 60, "prestarted", words),
                    metric: "p50"
                ),
                floor: Floor(
                    name: "fork with the plugin loaded",
                    source: Source(
                        step: .floor("zygote-start", library, count: 200),
                        metric: "p50"
                    )
                ),
                target: .atMost(1.5),
                reason: "the worker has been idle and its processor too, so both must be woken"
            )
        }
        return [
            cold("C", 60, options.files + "/bench.so", "c"),
            cold("Swift", 60, options.programs + "/libBenchSwift.so", "swift"),
            prestarted("C", options.files + "/bench.so", "c"),
            prestarted("Swift", options.programs + "/libBenchSwift.so", "swift"),
            Row(
                name: "cold C worker, against a spawn",
                unit: "us",
                subject: Source(
                    step: .subject("first-instruction", 60, "cold", "c"),
                    metric: "p50"
                ),
                floor: Floor(
                    name: "posix_spawn of an empty C program",
                    source: Source(step: .floor("spawn", count: 200), metric: "p50")
                )
            ),
            Row(
                name: "warm C worker, first instruction",
                unit: "us",
                subject: Source(step: .subject("first-instruction", 10_000, "c"), metric: "p50")
            ),
            Row(
                name: "warm Swift worker, first instruction",
                unit: "us",
                subject: Source(step: .subject("first-instruction", 10_000, "swift"), metric: "p50")
            ),
        ]
    }
}
