// SPDX-License-Identifier: Apache-2.0

import BghostBase
internal import BghostLinux
internal import Glibc
internal import Synchronization

// What watching a daemon costs it.
extension Subject {
    private static let dashboards = 10
    /// How often a page asks, seconds.
    private static let period = 2.0
    private static let submitsPerSecond = 1000
    private static let windows = 3

    /// How soon Chromium shows pages of the dashboard, with as many runs in the history as the first
    /// word says.
    func paint() throws {
        let daemon = try OperatedDaemon(self, history: words.first.flatMap { Int($0) } ?? 0)
        let script = files + "/../Benchmarks/Browser/paint.py"
        let child = try start(
            Browser.python(files),
            [
                Browser.python(files), script, try daemon.ticket(), String(count), "overview",
                "tasks",
            ]
        )
        var status: Int32 = 0
        waitpid(child.pid, &status, 0)
        close(child.pidfd)
        try daemon.end()
        guard status == 0 else { throw BenchFailure(description: "\(script) failed") }
    }

    /// What ten dashboards cost a daemon with 1,000 submissions and runs in a second.
    ///
    /// Windows with and without them follow each other, so that what else the machine does hits both.
    func watched() throws {
        let daemon = try OperatedDaemon(self, history: words.first.flatMap { Int($0) } ?? 0)
        try refreshCost(of: daemon)
        let load = Load(daemon.socket, perSecond: Self.submitsPerSecond)
        try load.warmUp()
        var (bare, watched) = ([Double](), [Double]())
        var (bareP99, watchedP99) = ([Double](), [Double]())
        for _ in 0..<Self.windows {
            // Those of before the window.
            _ = load.takeSamples()
            var used = try daemon.processorTime
            usleep(UInt32(count) * 1_000_000)
            bare.append(try daemon.processorTime - used)
            bareP99.append(try load.takeP99())
            used = try daemon.processorTime
            try watch(daemon, seconds: Double(count))
            watched.append(try daemon.processorTime - used)
            watchedP99.append(try load.takeP99())
        }
        let rate = try load.end()
        let seconds = Double(count)
        let (without, with) = (bare.median ?? 0, watched.median ?? 0)
        print("rate \(rate.fixed(1))")
        print("bare-percent \((without / seconds * 100).fixed(3))")
        print("more-percent \(((with - without) / seconds * 100).fixed(3))")
        print("bare-p99 \((bareP99.median ?? 0).fixed(3))")
        print("watched-p99 \((watchedP99.median ?? 0).fixed(3))")
        try daemon.end()
    }

    /// Processor time of the daemon for one refresh of a page, over the socket, where no answer is shared.
    private func refreshCost(of daemon: OperatedDaemon) throws {
        let client = try UnixClient(daemon.socket)
        let rounds = 100
        func refresh() throws {
            for path in DashboardClient.questions { try client.call("GET", path) }
        }
        for _ in 0..<10 { try refresh() }
        let used = try daemon.processorTime
        for _ in 0..<rounds { try refresh() }
        let each = (try daemon.processorTime - used) / Double(rounds)
        print("refresh-us \((each * 1e6).fixed(1))")
    }

    /// Refreshes ten pages, each in its turn within the period.
    private func watch(_ daemon: OperatedDaemon, seconds: Double) throws {
        let step = UInt64(Self.period / Double(Self.dashboards) * 1e9)
        let end = Monotonic.now + UInt64(seconds * 1e9)
        let clients = try (0..<Self.dashboards).map { _ in Held(try daemon.dashboard()) }
        var next = Monotonic.now
        var turn = 0
        while next < end {
            try clients[turn % clients.count].client.refresh()
            turn += 1
            next = next + step
            let now = Monotonic.now
            if next > now { usleep(UInt32(next.since(now) / 1000)) }
        }
    }

    private final class Held {
        let client: DashboardClient
        init(_ client: consuming DashboardClient) { self.client = client }
    }

    /// How long a scrape of all series takes: the request, the text, and its way to the client.
    func scrape() throws {
        let daemon = try OperatedDaemon(self, plugins: 256)
        let client = try UnixClient(daemon.socket)
        let bytes = try client.call("GET", "/metrics").count
        let series = try daemon.metrics().count
        var samples = Samples(reserving: count)
        let used = try daemon.processorTime
        for _ in 0..<count {
            let start = Monotonic.now
            try client.call("GET", "/metrics")
            samples.add(Monotonic.now.since(start))
        }
        let each = (try daemon.processorTime - used) / Double(count)
        samples.report()
        Remark.write(
            "a scrape has \(bytes) bytes and takes \((each * 1e3).fixed(3)) ms of a processor"
        )
        print("series \(series)")
        try daemon.end()
    }

    /// Which questions hold the reactor's thread for more than a millisecond, each time that they are
    /// asked.
    ///
    /// Turns in which another program had the processor are long now and then; those of a question that
    /// costs too much are long always.
    func stalls() throws {
        let daemon = try OperatedDaemon(self, history: words.first.flatMap { Int($0) } ?? 0)
        let client = try UnixClient(daemon.socket)
        var (long, asked, always) = (0.0, 0, 0)
        for path in Self.questions {
            var rounds = 0
            for _ in 0..<count {
                // The question for the turns has a turn of its own, which the next one counts.
                let first = try longTurns(daemon)
                let before = try longTurns(daemon)
                try client.call("GET", path)
                let more = try longTurns(daemon) - before - (before - first)
                long += more
                rounds += more > 0 ? 1 : 0
            }
            asked += count
            guard rounds * 2 > count else { continue }
            always += 1
            Remark.write(
                "\(path) holds the reactor for more than 1 ms: \(rounds) of \(count) times"
            )
        }
        print("always \(always)")
        print("per-thousand \((long / Double(asked) * 1000).fixed(3))")
        try daemon.end()
    }

    private static let questions = [
        "/v1/status", "/v1/status?task=bench.7", "/v1/health", "/v1/pending", "/v1/dead",
        "/v1/runs?limit=1000", "/v1/runs?outcome=unsuccessful", "/v1/runs?text=refused",
        "/v1/runs?task=bench.7&limit=1000", "/v1/why?id=bench.7", "/v1/plan?hours=168",
        "/v1/days?task=bench.7", "/v1/starts", "/v1/uses", "/v1/throttle", "/v1/pauses",
        "/v1/alerts", "/v1/transfers", "/v1/checkpoints", "/v1/audit", "/v1/logs", "/metrics",
    ]

    /// The turns of more than a millisecond so far.
    private func longTurns(_ daemon: OperatedDaemon) throws -> Double {
        let metrics = try daemon.metrics()
        guard let all = metrics["bghost_loop_turn_seconds_count"],
            let short = metrics[#"bghost_loop_turn_seconds_bucket{le="0.001"}"#]
        else { throw BenchFailure(description: "the daemon does not measure its turns") }
        return all - short
    }
}

/// Chromium and what drives it.
enum Browser {
    /// The one that `Scripts/browser --prepare` has installed.
    static func python(_ files: String) -> String { files + "/../.build/browser/venv/bin/python" }

    static func isInstalled(_ files: String) -> Bool {
        access(python(files), X_OK) == 0 && access("/usr/bin/chromium-headless-shell", X_OK) == 0
    }
}
