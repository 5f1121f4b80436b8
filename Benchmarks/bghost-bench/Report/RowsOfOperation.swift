// SPDX-License-Identifier: Apache-2.0

extension Row {
    private static let history = 1_000_000

    /// What it costs to watch a daemon with 1,000 tasks and a long history.
    static func operation(_ options: BenchOptions) -> [Row] {
        // A step scales its count with `--short`, but not its words.
        let runs = String(options.isShort ? history / 20 : history)
        return questions + pages(options, runs) + dashboards(runs) + scrapes
            + stalls(runs)
    }

    private static var questions: [Row] {
        let queries = [
            ("the newest", "newest"), ("in the middle", "middle"), ("of a task", "task"),
            ("of a plugin", "plugin"), ("that failed", "failed"),
            ("of a task that failed", "failed-task"), ("by the beginning of the id", "id"),
        ]
        return queries.map { name, metric in
            Row(
                name: "page of 50 runs of 1M, \(name)",
                unit: "us",
                subject: Source(step: .long("history", history), metric: metric + "-p50"),
                target: .noMore(1000)
            )
        }
    }

    private static func pages(_ options: BenchOptions, _ runs: String) -> [Row] {
        guard Browser.isInstalled(options.files) else { return [] }
        let step = Step.long("paint", 9, runs)
        return [("overview", "overview"), ("page of tasks", "tasks")].flatMap { name, metric in
            [
                Row(
                    name: "\(name), first paint, 1M runs and 1,000 tasks",
                    unit: "ms",
                    subject: Source(step: step, metric: metric + "-paint"),
                    target: .noMore(100)
                ),
                Row(
                    name: "\(name), data, 1M runs and 1,000 tasks",
                    unit: "ms",
                    subject: Source(step: step, metric: metric + "-data"),
                    target: .noMore(150)
                ),
            ]
        }
    }

    private static func dashboards(_ runs: String) -> [Row] {
        let step = Step.long("watched", 8, runs)
        func source(_ metric: String) -> Source { Source(step: step, metric: metric) }
        return [
            Row(
                name: "refresh of a dashboard, processor time of the daemon",
                unit: "us",
                subject: source("refresh-us")
            ),
            Row(
                name: "daemon with 1,000 submits and runs a second",
                unit: "% of a core",
                subject: source("bare-percent")
            ),
            Row(
                name: "10 dashboards more, with 1,000 tasks",
                unit: "% of a core",
                subject: source("more-percent"),
                target: .noMore(1)
            ),
            Row(
                name: "submit p99 at 1,000 a second, with 10 dashboards",
                unit: "us",
                subject: source("watched-p99"),
                floor: Floor(name: "the same without", source: source("bare-p99")),
                target: .atMost(1.05)
            ),
        ]
    }

    private static var scrapes: [Row] {
        let step = Step.long("scrape", 60)
        func source(_ metric: String) -> Source { Source(step: step, metric: metric) }
        return [
            Row(
                name: "scrape with 1,000 tasks and 256 plugins",
                unit: "us",
                subject: source("p50"),
                target: .noMore(20_000)
            ),
            Row(
                name: "series of that scrape",
                unit: "",
                subject: source("series"),
                target: .value(20_000)
            ),
        ]
    }

    private static func stalls(_ runs: String) -> [Row] {
        let step = Step.long("stalls", 20, runs)
        return [
            Row(
                name: "questions that always hold the reactor for 1 ms",
                unit: "of 22",
                subject: Source(step: step, metric: "always"),
                target: .noMore(0)
            ),
            Row(
                name: "turns of the reactor above 1 ms, for 1,000 questions",
                unit: "",
                subject: Source(step: step, metric: "per-thousand")
            ),
        ]
    }
}
