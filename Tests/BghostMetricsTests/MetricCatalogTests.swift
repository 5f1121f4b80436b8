// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostMetrics
import BghostModel
import Testing

/// The list of metrics, and how many series one daemon can have.
@Suite struct MetricCatalogTests {
    /// More tasks and plugins than are counted by name, each with all outcomes and reasons.
    private static var largest: MetricsSnapshot {
        let reasons: [KillReason] = [
            .graceExceeded, .memory, .cpu, .processes, .output, .data, .startTimeout,
            .protocolFault(1), .protocolFault(2),
        ]
        var statistics = RunStatistics()
        for number in 0..<1100 {
            for outcome in [.succeeded] + reasons.map({ Outcome.killed($0) }) {
                let record = RunRecord(
                    id: RunID(high: 1, low: 2),
                    request: RunID(high: 1, low: 1),
                    task: "t\(number)",
                    plugin: "p\(number % 300)",
                    state: .ended,
                    outcome: outcome,
                    limits: RunLimits(kind: .refresh),
                    submittedAt: 0,
                    endedAt: 5
                )
                statistics.ended(record, task: "t\(number)")
            }
        }
        statistics.workerStarted(plugin: "p1", after: 1)
        var snapshot = MetricsSnapshot(
            version: "1",
            startedAt: 0,
            slots: 1,
            slotsInUse: 0,
            pendingRequests: 0,
            deadLetters: 0,
            logDrops: [("file", 0), ("rate", 0)],
            alerts: .init(
                firing: AlertRule.allCases.map { ($0.rawValue, 0) },
                sent: 0,
                failed: 0,
                dropped: 0
            ),
            fleet: .init(
                hasLease: true,
                renewedAt: 1,
                renewalsFailed: 0,
                partitions: .init(
                    hasLease: true,
                    owned: 1,
                    ownerless: 0,
                    leaseLosses: 0,
                    callsFailed: 0
                )
            ),
            spans: SpanCounts(),
            statistics: statistics,
            tasks: (0..<1000).map { .init(name: "t\($0)", nextStart: 1) },
            plugins: (0..<256).map { .init(name: "p\($0)", state: .ready, memoryBytes: 1) },
            process: .init(processorTime: 0, residentBytes: 0, openDescriptors: 0)
        )
        snapshot.endpoints = (0..<EndpointCounts.endpointsMax).map {
            ("GET /\($0)", EndpointCounts())
        }
        snapshot.storeBytes = 1
        for index in snapshot.plugins.indices { snapshot.plugins[index].layersMissing = 1 }
        snapshot.transfers = TransferStatistics()
        snapshot.notifications = NotificationStatistics()
        return snapshot
    }

    @Test(arguments: MetricsFormat.allCases)
    func `Every series is one of the list, with its labels, and none has more`(
        format: MetricsFormat
    ) {
        var counts: [Substring: Int] = [:]
        var labels: [Substring: Set<[Substring]>] = [:]
        for line in Self.largest.text(format).split(separator: "\n") where line.first != "#" {
            let name = line.prefix { $0 != "{" && $0 != " " }
            counts[name, default: 0] += 1
            let inside =
                line.dropFirst(name.count).first == "{"
                ? line.dropFirst(name.count + 1).prefix { $0 != "}" } : ""
            labels[name, default: []].insert(
                inside.split(separator: ",").map { $0.prefix { $0 != "=" } }
            )
        }
        for metric in Metric.all {
            var found = 0
            for name in metric.seriesNames {
                let count = counts.removeValue(forKey: Substring(name)) ?? 0
                #expect(count > 0, "\(name) is in the list only")
                found += count
                var wanted = metric.allLabels.map { Substring($0.name) }
                if metric.kind == .histogram, !name.hasSuffix("_bucket") { wanted.removeLast() }
                #expect(labels[Substring(name)] == [wanted], "\(name)")
            }
            #expect(found <= metric.seriesMax, "\(metric.name): \(found)")
            // The bound is no more than the largest daemon comes near to.
            #expect(found * 2 > metric.seriesMax, "\(metric.name): \(found) of \(metric.seriesMax)")
        }
        #expect(counts.isEmpty, "not in the list: \(counts.keys)")
    }

    @Test func `Names are those that Prometheus wants, and each is there once`() {
        #expect(Set(Metric.all.map(\.name)).count == Metric.all.count)
        for metric in Metric.all {
            #expect(metric.name.wholeMatch(of: /(bghost|process)_[a-z_]+/) != nil)
            #expect(metric.unit.isEmpty || metric.name.hasSuffix("_" + metric.unit))
            #expect(!metric.name.hasSuffix("_total") && !metric.name.hasSuffix("_info"))
            #expect(metric.help.hasSuffix(".") && !metric.help.contains("\n"))
            #expect(!metric.help.contains("|"), "it would break the table of the page")
        }
        let series = Metric.all.reduce(0) { $0 + $1.seriesMax }
        #expect(series < 30_000, "\(series)")
    }
}
