// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel

/// What happened to a task around a time of the past.
package struct PastExplanation: Equatable, Sendable {
    package enum Kind: String, Codable, Sendable, CaseIterable {
        /// A run was in progress, or began.
        case ran
        /// A start that was due waited, and then began.
        case delayed
        /// A start that was due did not happen.
        case skipped
        /// A start was due, and its request still waits.
        case waiting
        /// No start was due.
        case notDue
        /// This is older than what is kept.
        case notKept
    }

    /// What is known about the task and the time.
    package struct Evidence: Sendable {
        /// Runs that ended after the beginning of the window, and those in progress.
        var runs: [RunRecord]
        /// Starts that did not happen, or happened late, due before the end of the window.
        var starts: [SkippedStart]
        /// Since when its request waits that was due first, Unix nanoseconds.
        var waitingSince: Int64?
        /// The end of the oldest run that is kept, Unix nanoseconds.
        var keptSince: Int64?

        package init(
            runs: [RunRecord] = [],
            starts: [SkippedStart] = [],
            waitingSince: Int64? = nil,
            keptSince: Int64? = nil
        ) {
            self.runs = runs
            self.starts = starts
            self.waitingSince = waitingSince
            self.keptSince = keptSince
        }
    }

    /// How far from the time an event counts as around it, nanoseconds.
    package static let window: Int64 = 600_000_000_000

    package var task: String
    /// Unix nanoseconds.
    package var at: Int64
    package var kind: Kind
    /// The answer, one sentence without a full stop.
    package var sentence: String
    /// The run that began then, or that began in the end.
    package var run: RunRecord?
    /// The starts around the time that did not happen, or happened late.
    package var starts: [SkippedStart]
    /// The end of the oldest run that is kept, Unix nanoseconds; `nil` if there is none.
    package var keptSince: Int64?

    package init(task: String, at: Int64, _ evidence: Evidence) {
        self.task = task
        self.at = at
        keptSince = evidence.keptSince
        let (low, high) = (at.subtractingClamped(Self.window), at.addingClamped(Self.window))
        starts = evidence.starts.filter { $0.due <= high && $0.until >= low }
            .sorted { Self.distance(of: $0, from: at) < Self.distance(of: $1, from: at) }
        run = evidence.runs
            .filter { Self.start(of: $0) <= high && $0.endedAt ?? .max >= low }
            .filter { Self.start(of: $0) >= low || $0.endedAt ?? .max >= at }
            .min { Self.distance(of: $0, from: at) < Self.distance(of: $1, from: at) }
        let nearest = starts.first
        if let delayed = nearest, delayed.kind == .delayed,
            run.map({ $0.request == delayed.request || Self.start(of: $0) > high }) ?? true
        {
            kind = .delayed
            run = evidence.runs.first { $0.request == delayed.request } ?? run
            sentence = "\(Self.due(delayed)) \(delayed.sentence)"
            if let run { sentence += "; then \(Self.sentence(run))" }
            return
        }
        if let run {
            kind = .ran
            sentence = Self.sentence(run)
            if let nearest, nearest.kind != .delayed {
                sentence += "; \(Self.due(nearest)) \(nearest.sentence)"
            }
            return
        }
        if let nearest {
            kind = .skipped
            sentence = "\(Self.due(nearest)) \(nearest.sentence)"
            return
        }
        if let since = evidence.waitingSince, since <= high {
            kind = .waiting
            sentence =
                "a start was due at \(Self.text(since)), and its request still waits;"
                + " `bghost why \(task)` says for what"
            return
        }
        if let keptSince, high < keptSince {
            kind = .notKept
            sentence =
                "this is older than what is kept, which begins at \(Self.text(keptSince));"
                + " `host.history` in the manifest keeps more"
            return
        }
        kind = .notDue
        sentence = "no start was due within 10 minutes of \(Self.text(at))"
        let next = evidence.runs.filter { Self.start(of: $0) > high }
            .min { Self.start(of: $0) < Self.start(of: $1) }
        if let next { sentence += "; the next run began at \(Self.text(Self.start(of: next)))" }
    }

    private static func text(_ time: Int64) -> String { Timestamp.text(unixNanoseconds: time) }

    private static func start(of run: RunRecord) -> Int64 {
        run.startedAt ?? run.endedAt ?? run.submittedAt
    }

    /// How far a time is from a range, nanoseconds; 0 inside of it.
    private static func distance(_ low: Int64, _ high: Int64, from at: Int64) -> Int64 {
        max(0, low.subtractingClamped(at), at.subtractingClamped(high))
    }

    private static func distance(of start: SkippedStart, from at: Int64) -> Int64 {
        distance(start.due, start.until, from: at)
    }

    /// Of several runs around a time, the one whose start is nearest counts.
    private static func distance(of run: RunRecord, from at: Int64) -> Int64 {
        distance(start(of: run), start(of: run), from: at)
    }

    private static func due(_ start: SkippedStart) -> String {
        start.kind == .misfire || start.kind == .merged || start.count > 1
            ? "it" : "due at \(text(start.due)), it"
    }

    private static func sentence(_ run: RunRecord) -> String {
        let message = run.message.isEmpty ? "" : ": \(run.message)"
        let begin = "run \(run.id) began at \(text(start(of: run)))"
        guard let end = run.endedAt else { return begin + " and is in progress" }
        return begin + " and ended at \(text(end)), \(run.outcome?.text ?? "unknown")\(message)"
    }
}
