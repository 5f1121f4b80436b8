// SPDX-License-Identifier: Apache-2.0

import BghostHost
import BghostModel
import BghostPolicy
import BghostTestSupport
import Glibc
import Testing

/// Runs of all hostile handlers through one daemon, many at once, and what came of them.
struct Storm: Sendable {
    static let runtime = Duration.milliseconds(60)
    static let grace = Duration.milliseconds(40)
    /// For those that end by themselves: beside so many that keep every processor busy that takes
    /// a while.
    static let longGrace = Duration.seconds(2)
    /// What the contract adds to runtime and grace.
    static let slack = Duration.seconds(1)
    private static let slots = 12
    /// Requests that wait or run at a time.
    private static let wave = 48

    /// How many runs there are to be.
    let size: Int

    /// What came of them.
    struct Report: Sendable {
        var submitted = 0
        var ended = 0
        /// Runs that had their slot for longer than runtime, grace and a second.
        var late: [String] = []
        /// Runs that ended in another way than stated.
        var odd: [String] = []
        /// Runs of others, among them.
        var witnesses = 0
        /// Others that did not succeed.
        var disturbed: [String] = []
        /// The longest time by which a slot was held beyond runtime and grace.
        var worst = Duration.zero
        /// By outcome.
        var outcomes: [String: Int] = [:]
    }

    /// `BGHOST_STORM_RUNS`, or a few hundred.
    static var wanted: Int {
        getenv("BGHOST_STORM_RUNS").flatMap { Int(String(cString: $0)) } ?? 336
    }

    static let ends = TestManifest.knownHostilities + TestManifest.hostilities

    static func manifest() throws -> Manifest {
        var manifest = try TestManifest.misbehave(
            limits: WorkerLimits(memoryBytes: 64 << 20, processes: 8),
            slots: slots
        )
        for end in ends {
            let isKilled = end.outcomes.contains("killed(graceExceeded)")
            let limits = RunLimits(runtime: runtime, grace: isKilled ? grace : longGrace)
            let task = "storm.\(end.handler).*"
            manifest.tasks.append(try TestManifest.task(task, "misbehave", end.handler, limits))
        }
        return manifest
    }

    func rage(_ daemon: RunningHost) async throws -> Report {
        var report = Report()
        while report.submitted < size {
            let numbers = report.submitted..<min(size, report.submitted + Self.wave)
            report.submitted += numbers.count
            let records = try await withThrowingTaskGroup(of: RunRecord?.self) { group in
                for number in numbers {
                    let end = Self.ends[number % Self.ends.count]
                    let task = "storm.\(end.handler).\(number)"
                    group.addTask {
                        do {
                            return try await daemon.host.run(Submission(task: task))
                        } catch {
                            print("storm: \(task) was not taken: \(error)")
                            return nil
                        }
                    }
                }
                // Well-behaved runs continue among them.
                for number in numbers where number % 8 == 0 {
                    report.witnesses += 1
                    let echo: RunRecord
                    do {
                        echo = try await daemon.run("witness.echo", #"{"n":\#(number)}"#)
                    } catch {
                        report.disturbed.append("an echo was not taken: \(error)")
                        continue
                    }
                    if echo.outcome != .succeeded || echo.result != #"{"n":\#(number)}"# {
                        report.disturbed.append("\(echo)")
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for case let record? in records { try report.take(record, daemon) }
        }
        return report
    }
}

extension Storm.Report {
    fileprivate mutating func take(_ record: RunRecord, _ daemon: RunningHost) throws {
        let handler = record.task.split(separator: ".")[1]
        let outcome = try #require(record.outcome).text
        ended += 1
        outcomes[outcome, default: 0] += 1
        let end = try #require(Storm.ends.first { $0.handler == handler })
        // On a machine that is this busy a handler may not come so far within its time.
        let isKnown = (end.outcomes + ["killed(graceExceeded)"]).contains { outcome.hasPrefix($0) }
        if !isKnown { odd.append("\(record.task): \(outcome) \(record.message)") }
        let began = try #require(record.startedAt)
        let held = Duration.nanoseconds(try #require(record.endedAt) - began)
        let over = held - record.limits.runtime - record.limits.grace
        worst = max(worst, over)
        if over > Storm.slack {
            let timeline = daemon.timeline(of: record)
            late.append("\(record.task) had its slot for \(held), \(timeline)")
        }
    }
}
