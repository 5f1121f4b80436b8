// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostMetrics
import BghostModel
import Testing

/// What is counted of runs.
@Suite struct RunStatisticsTests {
    private static func record(
        _ outcome: Outcome,
        task: String = "backup",
        plugin: String = "disk",
        endedAt: Int64 = 10
    ) -> RunRecord {
        RunRecord(
            id: RunID(high: 1, low: 2),
            request: RunID(high: 1, low: 1),
            task: task,
            plugin: plugin,
            state: .ended,
            outcome: outcome,
            limits: RunLimits(kind: .refresh),
            submittedAt: 0,
            endedAt: endedAt
        )
    }

    private static func end(
        _ statistics: inout RunStatistics,
        _ outcome: Outcome,
        task: String = "backup",
        plugin: String = "disk",
        endedAt: Int64 = 10
    ) {
        let record = record(outcome, task: task, plugin: plugin, endedAt: endedAt)
        statistics.ended(record, task: task)
        statistics.started(plugin: plugin, delay: 0)
        statistics.stopped(plugin: plugin, duration: 1, cancelDuration: nil, processorTime: 1)
    }

    @Test(arguments: OutcomeClass.allCases)
    func `Each outcome has its own counter`(outcome: OutcomeClass) {
        #expect(OutcomeClass.allCases.firstIndex(of: outcome) == outcome.index)
    }

    @Test func `A success resets the consecutive failures, a lost run does not`() throws {
        var statistics = RunStatistics()
        for outcome in [.failed, .crashed(.exited(1)), .lost, .cancelledClean, .abandoned]
            as [Outcome]
        {
            Self.end(&statistics, outcome)
        }
        #expect(statistics.tasksByName.first?.counts.consecutiveFailures == 3)
        #expect(statistics.tasksByName.first?.counts.lastSuccess == nil)
        Self.end(&statistics, .succeeded, endedAt: 99)
        let counts = try #require(statistics.tasksByName.first?.counts)
        #expect(counts.consecutiveFailures == 0 && counts.lastSuccess == 99 && counts.lastEnd == 99)
    }

    @Test func `The number of names is bounded, and every run counts`() {
        var statistics = RunStatistics()
        let runs = RunStatistics.tasksMax + 50
        for number in 0..<runs {
            Self.end(&statistics, .succeeded, task: "t\(number)", plugin: "p\(number)")
        }
        let tasks = statistics.tasksByName
        #expect(tasks.count == RunStatistics.tasksMax + 1)
        #expect(tasks.reduce(0) { $0 + $1.counts.count(.succeeded) } == UInt64(runs))
        let plugins = statistics.pluginsByName
        #expect(plugins.count == RunStatistics.pluginsMax + 1)
        // Each run comes once as a task and twice as a plugin.
        #expect(statistics.folded == UInt64(50 + 2 * (runs - RunStatistics.pluginsMax)))
        #expect(tasks.first { $0.name == RunStatistics.otherName }?.counts.count(.succeeded) == 50)
    }

    @Test func `Worker starts are counted by plugin, and their times together`() {
        var statistics = RunStatistics()
        for (plugin, duration) in [("a", 3), ("b", 4), ("a", 5)] as [(String, UInt64)] {
            statistics.workerStarted(plugin: plugin, after: duration)
        }
        #expect(statistics.pluginsByName.map(\.counts.workerStarts) == [2, 1])
        #expect(statistics.workerStarts.count == 3 && statistics.workerStarts.sum == 12)
    }

    @Test func `A handler that ends without a counted start leaves no negative number`() {
        var statistics = RunStatistics()
        statistics.stopped(plugin: "disk", duration: 1, cancelDuration: nil, processorTime: 0)
        #expect(statistics.pluginsByName.first?.counts.active == 0)
        statistics.started(plugin: "disk", delay: 0)
        #expect(statistics.pluginsByName.first?.counts.active == 1)
    }

    @Test func `A duration is in the first bucket whose bound it does not exceed`() {
        var histogram = DurationHistogram()
        for duration in [0, 1_000_000, 1_000_001, .max] as [UInt64] { histogram.record(duration) }
        #expect(histogram.counts.first == 2 && histogram.counts[1] == 1)
        #expect(histogram.counts.last == 1 && histogram.count == 4 && histogram.sum == .max)
    }
}
