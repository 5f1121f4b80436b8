// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// Compares what tasks do with what their operator expects of them.
///
/// It is a pure value and reads no clock. Tasks are those of the manifest: the members of a family count together
/// under its pattern. An event costs O(log n) in the watched tasks, requests and runs.
package struct ExpectationWatch: Sendable {
    /// What was found: a condition that holds, or one that no longer does.
    package enum Finding: Equatable, Sendable {
        case raise(AlertKey, String)
        case clear(AlertKey)
    }

    /// The request of an identifier, when it could have started.
    package enum Waiting: Equatable, Sendable {
        /// None waits.
        case nothing
        /// One waits since this date, Unix nanoseconds.
        case since(Int64)
        /// One waits for what the manifest or an operator asks for.
        case asAsked
    }

    struct Subject: Sendable {
        let name: String
        var expectation: TaskExpectation
        var progress: TaskProgress
        /// The last success that is stored.
        var storedSuccess: Int64?
        /// How much newer than `lastSuccess` the real one may be: after a restart.
        var slack: Int64 = 0
        /// When its time without success is compared next; `nil` for never.
        var successDue: Int64?
        /// The identifiers whose pending request is watched.
        var waiting: [String: Waiter] = [:]
        var late: Set<String> = []
        var longRuns: Set<RunID> = []
    }

    /// A pending request that should start in time.
    struct Waiter: Sendable {
        /// The number of the date at which it is compared.
        var number: UInt64 = 0
        /// When it could have started, as its owner says, Unix nanoseconds.
        let due: Int64
        /// How far the clock was set while it waited since then, nanoseconds.
        var shift: Int64 = 0

        /// Since when it waits by the present clock, Unix nanoseconds.
        var since: Int64 { due.addingClamped(shift) }
    }

    struct ActiveRun: Sendable {
        let task: String
        let startedAt: MonotonicInstant
        /// The number of the date at which it is compared; 0 if it may take as long as it wants.
        var number: UInt64
    }

    enum Date: Sendable {
        case success(task: String)
        case start(task: String, identifier: String)
        case run(RunID)
    }

    var subjects: [String: Subject] = [:]
    var runs: [RunID: ActiveRun] = [:]
    var dates: [UInt64: Date] = [:]
    var heap = TimerHeap()
    var last: UInt64 = 0
    var changes: [AlertChange] = []

    /// The most requests of one family that are watched at a time.
    package static let waitingMax = 64
    /// The shortest delay before a request is looked at again that waits as asked, nanoseconds.
    static let lookMin: Int64 = 1_000_000_000

    package init() {}

    /// Whether anything of a task is watched.
    package func watches(_ task: String) -> Bool { subjects[task] != nil }

    /// The tasks whose requests should start in time, without those whose own request is watched.
    package var tasksWithStart: [String] {
        subjects.values
            .filter { $0.expectation.start != nil && $0.waiting[$0.name] == nil }
            .map(\.name)
    }

    /// How late a request of a task may start, nanoseconds; `nil` if that is not watched.
    package func start(of task: String) -> Int64? {
        subjects[task]?.expectation.start.map(Self.nanoseconds)
    }

    /// The changes to store since the last call.
    package mutating func takeChanges() -> [AlertChange] {
        defer { changes = [] }
        return changes
    }

    // MARK: Runs

    /// A handler has started.
    package mutating func started(_ run: RunID, of task: String, now: Moment) {
        guard let subject = subjects[task] else { return }
        let number = subject.expectation.runtime.map {
            arm(.run(run), at: now.unix.addingClamped(Self.nanoseconds($0)))
        }
        runs[run] = ActiveRun(task: task, startedAt: now.monotonic, number: number ?? 0)
    }

    /// A run has ended, whatever its outcome and whether its task is still watched.
    package mutating func ended(_ run: RunID) -> [Finding] {
        guard let ended = runs.removeValue(forKey: run) else { return [] }
        disarm(ended.number)
        return noLongerLong(run, of: ended.task)
    }

    mutating func noLongerLong(_ run: RunID, of task: String) -> [Finding] {
        guard subjects[task]?.longRuns.remove(run) != nil,
            subjects[task]?.longRuns.isEmpty == true
        else { return [] }
        return [.clear(AlertKey(.longRun, task))]
    }

    /// A run has ended, with its handler or without.
    ///
    /// - Parameters:
    ///   - succeeded: `nil` if the outcome says nothing about the handler.
    ///   - message: why it failed.
    package mutating func ended(
        _ run: RunID,
        of task: String,
        succeeded: Bool?,
        _ message: String,
        now: Int64
    ) -> [Finding] {
        var findings = ended(run)
        guard var subject = subjects[task], let succeeded else { return findings }
        if succeeded {
            let isFirst = subject.progress.failures > 0 || subject.storedSuccess == nil
            subject.progress.lastSuccess = now
            subject.progress.failures = 0
            subject.slack = 0
            let slack = subject.expectation.every.map {
                TaskProgress.slack(every: Self.nanoseconds($0))
            }
            let isOld =
                slack.map { now >= (subject.storedSuccess ?? .min).addingClamped($0) } ?? false
            if isFirst || isOld {
                subject.storedSuccess = now
                changes.append(.progress(subject.progress))
            }
            subjects[task] = subject
            findings.append(.clear(AlertKey(.failures, task)))
            if subject.expectation.every != nil {
                findings.append(.clear(AlertKey(.noSuccess, task)))
                armSuccess(task)
            }
        } else {
            subject.progress.failures += 1
            // More failures than the limit change nothing after a restart.
            if subject.progress.failures <= max(1, subject.expectation.failures ?? 1) {
                subject.storedSuccess = subject.progress.lastSuccess
                changes.append(.progress(subject.progress))
            }
            subjects[task] = subject
            findings += compareFailures(task, message)
        }
        return findings
    }

    func compareFailures(_ task: String, _ message: String = "") -> [Finding] {
        guard let subject = subjects[task] else { return [] }
        let key = AlertKey(.failures, task)
        let count = subject.progress.failures
        guard let most = subject.expectation.failures, count >= most else { return [.clear(key)] }
        let reason = message.isEmpty ? "" : "; the last: \(message)"
        return [.raise(key, CountText.of(count, "run") + " in a row failed\(reason)")]
    }

    // MARK: Requests

    /// A request of an identifier may wait now, or no longer.
    ///
    /// - Parameter due: when it could start, Unix nanoseconds; `nil` if none waits. It is called only for an
    ///   identifier that is watched.
    package mutating func changed(
        _ identifier: String,
        of task: String,
        due: () -> Int64?
    ) -> [Finding] {
        guard let subject = subjects[task], let start = subject.expectation.start else { return [] }
        let watched = subject.waiting[identifier]
        guard watched != nil || subject.waiting.count < Self.waitingMax else { return [] }
        if let watched { disarm(watched.number) }
        subjects[task]?.waiting[identifier] = nil
        guard let due = due() else { return noLongerLate(identifier, of: task) }
        let waiter = watched?.due == due ? watched ?? Waiter(due: due) : Waiter(due: due)
        let date = waiter.since.addingClamped(Self.nanoseconds(start))
        watch(waiter, identifier, of: task, at: date)
        return []
    }

    mutating func watch(_ waiter: Waiter, _ identifier: String, of task: String, at date: Int64) {
        var waiter = waiter
        waiter.number = arm(.start(task: task, identifier: identifier), at: date)
        subjects[task]?.waiting[identifier] = waiter
    }

    mutating func noLongerLate(_ identifier: String, of task: String) -> [Finding] {
        guard subjects[task]?.late.remove(identifier) != nil,
            subjects[task]?.late.isEmpty == true
        else { return [] }
        return [.clear(AlertKey(.lateStart, task))]
    }

    // MARK: Helpers

    mutating func arm(_ date: Date, at time: Int64) -> UInt64 {
        last += 1
        dates[last] = date
        heap.insert(deadline: UInt64(max(0, time)), token: last)
        return last
    }

    mutating func disarm(_ number: UInt64) {
        guard dates.removeValue(forKey: number) != nil else { return }
        heap.forget { [dates] token, _ in dates[token] != nil }
    }

    static func nanoseconds(_ duration: Duration) -> Int64 {
        Int64(clamping: duration.clampedNanoseconds)
    }
}
