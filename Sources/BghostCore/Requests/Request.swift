// SPDX-License-Identifier: Apache-2.0

/// A request that has been accepted and has not come to its end.
///
/// It keeps its id through every attempt, so the id is also the idempotency key that handlers get.
package struct Request: Equatable, Codable, Sendable {
    package var id: RunID
    package var task: String
    /// A JSON object, as submitted; the task's own parameters lie beneath it.
    package var parameters: String
    /// Unix nanoseconds.
    package var submittedAt: Int64
    /// Not before this time, Unix nanoseconds.
    package var earliestBegin: Int64?
    /// Not after this time, Unix nanoseconds: a request that could not begin until then is missed.
    package var latestBegin: Int64?
    /// How much later than its earliest date it may begin to meet others, nanoseconds.
    package var tolerance: Int64
    /// The moment of that window that was chosen for it because of a usual use, Unix nanoseconds;
    /// `nil` if it is to meet others.
    package var aim: Int64?
    package var priority: Int
    /// What must hold besides what its task requires.
    package var requirements: RequirementSet
    /// Made by `trigger`: it does not count as the task's one pending request.
    package var isSimulated: Bool
    /// The time of the schedule that it serves, Unix nanoseconds; no two requests serve the same.
    package var slot: Int64?
    /// The times of the schedule that went by while the daemon was down, and that it stands for.
    package var missed: MissedSlots?
    /// Who submitted it.
    package var submitter: Submitter
    package var counters: AttemptCounters

    package init(
        id: RunID,
        task: String,
        parameters: String,
        submittedAt: Int64,
        earliestBegin: Int64? = nil,
        latestBegin: Int64? = nil,
        tolerance: Int64 = 0,
        aim: Int64? = nil,
        priority: Int,
        requirements: RequirementSet = [],
        isSimulated: Bool = false,
        slot: Int64? = nil,
        missed: MissedSlots? = nil,
        submitter: Submitter = .operator,
        counters: AttemptCounters = AttemptCounters()
    ) {
        self.id = id
        self.task = task
        self.parameters = parameters
        self.submittedAt = submittedAt
        self.earliestBegin = earliestBegin
        self.latestBegin = latestBegin
        self.tolerance = tolerance
        self.aim = aim
        self.priority = priority
        self.requirements = requirements
        self.isSimulated = isSimulated
        self.slot = slot
        self.missed = missed
        self.submitter = submitter
        self.counters = counters
    }

    /// The number of the run that it would get now, from 1.
    package var attempt: Int { counters.runs + 1 }

    /// Whether it has had a run: it then no longer counts as the task's one pending request.
    package var isRetry: Bool { counters.runs > 0 }

    /// The same request for a further go after it has died: it may fail as often as one that is new,
    /// and may begin at once.
    ///
    /// Its runs count as interruptions, which no limit is set to. So it stays a retry, which stands
    /// beside a newer pending request of its task instead of taking its place, also after a restart;
    /// and its attempts go on being numbered.
    ///
    /// - Parameter now: Unix nanoseconds; a latest begin date before it is dropped.
    package func redriven(now: Int64) -> Request {
        var request = self
        request.counters = AttemptCounters(interruptions: max(1, counters.runs))
        request.earliestBegin = nil
        if let latest = latestBegin, latest < now { request.latestBegin = nil }
        return request
    }
}

/// The times of a schedule that nobody could serve.
package struct MissedSlots: Equatable, Codable, Sendable {
    package var count: Int
    /// The first of them, Unix nanoseconds.
    package var from: Int64

    package init(count: Int, from: Int64) {
        self.count = count
        self.from = from
    }
}

/// Who brought a request.
package enum Submitter: Equatable, Codable, Sendable {
    /// Somebody at the control socket.
    case `operator`
    /// The manifest: `submitAtStart`, a schedule, or a notification to be delivered.
    case manifest
    /// A handler, in this run.
    case run(RunID)
}

/// How often a request has been tried, and why it was tried again: three counts that are limited
/// apart, because a handler that fails, a worker that dies and a daemon that stops are not the same
/// fault.
package struct AttemptCounters: Equatable, Codable, Sendable {
    /// Its handler said that it failed.
    package var failures: Int
    /// Its worker died or was killed.
    package var losses: Int
    /// It was interrupted through no fault of its own: drain, a requirement that was lost.
    package var interruptions: Int

    package init(failures: Int = 0, losses: Int = 0, interruptions: Int = 0) {
        self.failures = failures
        self.losses = losses
        self.interruptions = interruptions
    }

    /// How many runs it has had.
    package var runs: Int { failures + losses + interruptions }
}
