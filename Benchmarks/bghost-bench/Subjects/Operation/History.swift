// SPDX-License-Identifier: Apache-2.0

import BghostBase
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostStore
internal import Glibc

/// A store with a long history, which steps share.
struct BenchHistory {
    /// The tasks of the runs: `bench.0` and so on.
    static let tasks = 1000
    /// One run in so many failed.
    private static let failureEvery = 500

    let count: Int
    let folder: String

    private static let retention = SQLiteStore.Retention(
        policy: HistoryPolicy(
            host: HistorySettings(
                runs: 10_000_000,
                age: .seconds(3660 * 86_400),
                bytes: 16 << 30
            )
        )
    )

    /// The section `history` of a manifest that keeps all of it.
    static let settings = #"{ "runs": 10000000, "age": "3660d", "size": "16GiB" }"#

    /// Makes the store, if it is not there from an earlier step.
    ///
    /// - Parameter count: of ended runs.
    init(_ subject: Subject, count: Int) throws {
        self.count = count
        mkdir(subject.files + "/store", 0o755)
        folder = "\(subject.files)/store/history-\(count)"
        let mark = folder + "/whole"
        guard access(mark, F_OK) != 0 else { return }
        try subject.remove(folder)
        mkdir(folder, 0o700)
        let store = try open()
        // Ended one after the other in the last day.
        let end = WallClock.now
        let gap = 86_400_000_000_000 / Int64(max(1, count))
        for start in stride(from: 0, to: count, by: 500) {
            var changes: [StoreChange] = []
            for number in start..<min(start + 500, count) {
                changes += Self.life(number, endedAt: end - Int64(count - number) * gap)
            }
            store.commit(changes, isAwaited: false, onFailure: .retry) { _ in }
            // What waits lies in memory.
            if start % 50_000 == 0 { _ = store.flush(until: .never) }
        }
        guard store.flush(until: Monotonic.now + 60_000_000_000) == 0 else {
            throw BenchFailure(description: "\(folder) could not be filled")
        }
        store.close()
        try TextFile.write("", to: mark)
    }

    /// Opens the store; only one process may have it open.
    func open() throws -> SQLiteStore {
        let path = folder + "/" + StateDirectory.storeName
        return try SQLiteStore(path: path, retention: Self.retention)
    }

    private static func life(_ number: Int, endedAt: Int64) -> [StoreChange] {
        let request = Request(
            id: id(number, endedAt, isRun: false),
            task: "bench.\(number % tasks)",
            parameters: "{}",
            submittedAt: endedAt - 30_000_000,
            priority: 500
        )
        var record = RunRecord(
            id: id(number, endedAt, isRun: true),
            request: request.id,
            task: request.task,
            plugin: "bench",
            epoch: 1,
            limits: RunLimits(kind: .processing),
            submittedAt: request.submittedAt,
            startedAt: endedAt - 20_000_000
        )
        let begun = record
        let failed = number % failureEvery == failureEvery - 1
        record.state = .ended
        record.outcome = failed ? .failed : .succeeded
        record.message = failed ? "connection refused" : ""
        record.endedAt = endedAt
        record.duration = .milliseconds(20)
        record.kind = .processing
        return [
            .accepted(request, replacing: nil), .runStarted(begun),
            .runEnded(record, then: .consumed),
        ]
    }

    /// Ids begin with the time, as those of the daemon.
    private static func id(_ number: Int, _ time: Int64, isRun: Bool) -> RunID {
        let milliseconds = UInt64(time / 1_000_000)
        return RunID(high: milliseconds << 16 | (isRun ? 1 : 0), low: UInt64(number))
    }
}

extension Subject {
    /// How long the questions of the dashboard to a long history take, each for a page of 50 runs.
    func history() throws {
        let history = try BenchHistory(self, count: count)
        let store = try history.open()
        defer { store.close() }
        // The first question opens the store and reads all that waits.
        guard let newest = store.runs(RunQuery(limit: 50)).entries.first?.number else {
            throw BenchFailure(description: "the history is empty")
        }
        let middle = newest - Int64(history.count / 2)
        let id = store.runs(RunQuery(before: middle, limit: 1)).entries.first?.record.id
        let prefix = String((id?.description ?? "").prefix(12))
        func measure(
            _ name: String,
            _ filter: RunFilter = RunFilter(),
            before: Int64? = nil
        ) throws {
            var samples = Samples(reserving: 200)
            for round in -20..<200 {
                let start = Monotonic.now
                let page = store.runs(RunQuery(filter, before: before, limit: 50))
                if round >= 0 { samples.add(Monotonic.now.since(start)) }
                guard !page.entries.isEmpty else {
                    throw BenchFailure(description: "no run is found: \(name)")
                }
            }
            samples.report(name + "-")
        }
        try measure("newest")
        try measure("middle", before: middle)
        try measure("task", RunFilter(task: "bench.7"), before: middle)
        try measure("plugin", RunFilter(plugin: "bench"), before: middle)
        try measure("failed", RunFilter(state: .unsuccessful), before: middle)
        try measure("failed-task", RunFilter(task: "bench.499", state: .unsuccessful))
        try measure("id", RunFilter(idPrefix: prefix))
    }
}
