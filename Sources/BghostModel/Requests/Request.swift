// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostFacts

/// An accepted request that has not ended yet.
///
/// It keeps its id through every attempt, so handlers can use the id as an idempotency key.
package struct Request: Equatable, Codable, Sendable {
    package var id: RunID
    package var task: String
    /// A JSON object as submitted; its keys override those of the task's own parameters.
    package var parameters: String
    /// Unix nanoseconds.
    package var submittedAt: Int64
    /// The request does not start before this time, Unix nanoseconds.
    package var earliestBegin: Int64?
    /// The first run does not start after this time, Unix nanoseconds; if it has not started by then, the
    /// request is missed.
    package var latestBegin: Int64?
    /// How much later than its earliest date it may start, to share a wake-up with other requests,
    /// nanoseconds.
    package var tolerance: Int64
    /// The time in that window that was chosen from a usage habit, Unix nanoseconds; `nil` if the request
    /// starts at the shared instant of `Coalescing`.
    package var chosenStart: Int64?
    package var priority: Int
    /// The requirements in addition to those of its task.
    package var requirements: RequirementSet
    /// Whether it is a manual run (`bghost trigger`), which does not count as the task's one pending request.
    package var isManual: Bool
    /// `true` for an appended request; `nil` for others, and in the recordings of older versions.
    private var appended: Bool?
    /// The time of the schedule that it serves, Unix nanoseconds; no two requests serve the same
    /// time.
    package var scheduledTime: Int64?
    /// The missed starts of the schedule that this request makes up for.
    package var missed: MissedStarts?
    package var submitter: Submitter
    package var counters: AttemptCounters
    /// The place in a trace from which it was submitted; `nil` if its submitter named none.
    package var trace: TraceContext?

    /// The keys in recorded decisions; three of them have the former names of their properties.
    private enum CodingKeys: String, CodingKey {
        case id, task, parameters, submittedAt, earliestBegin, latestBegin, tolerance
        case chosenStart = "aim"
        case priority, requirements
        case isManual = "isSimulated"
        case appended
        case scheduledTime = "slot"
        case missed, submitter, counters, trace
    }

    package init(
        id: RunID,
        task: String,
        parameters: String,
        submittedAt: Int64,
        earliestBegin: Int64? = nil,
        latestBegin: Int64? = nil,
        tolerance: Int64 = 0,
        chosenStart: Int64? = nil,
        priority: Int,
        requirements: RequirementSet = [],
        isManual: Bool = false,
        isAppended: Bool = false,
        scheduledTime: Int64? = nil,
        missed: MissedStarts? = nil,
        submitter: Submitter = .operator,
        counters: AttemptCounters = AttemptCounters(),
        trace: TraceContext? = nil
    ) {
        self.id = id
        self.task = task
        self.parameters = parameters
        self.submittedAt = submittedAt
        self.earliestBegin = earliestBegin
        self.latestBegin = latestBegin
        self.tolerance = tolerance
        self.chosenStart = chosenStart
        self.priority = priority
        self.requirements = requirements
        self.isManual = isManual
        appended = isAppended ? true : nil
        self.scheduledTime = scheduledTime
        self.missed = missed
        self.submitter = submitter
        self.counters = counters
        self.trace = trace
    }

    /// Whether it waits for the end of the requests that were before it, and does not count as the task's one
    /// pending request; a retry of it does not wait for them.
    package var isAppended: Bool {
        get { appended ?? false }
        set { appended = newValue ? true : nil }
    }

    /// The number of its next run, from 1.
    package var attempt: Int { counters.runs + 1 }

    /// When it could start, if nothing else blocked it, Unix nanoseconds.
    package var due: Int64 {
        isManual ? submittedAt : max(submittedAt, earliestBegin ?? .min)
    }

    /// When it could start for the first time, Unix nanoseconds; a retry has replaced its date, so the
    /// submission or the time of its schedule stands for that.
    package var firstDue: Int64 { isRetry ? scheduledTime ?? submittedAt : due }

    /// The trace of its next run, as its submitter named it; `nil` if it named none.
    package var runTrace: RunTrace? {
        trace.map { RunTrace(context: $0, parent: $0.span, since: firstDue) }
    }

    /// The same request with its date moved by a step of the clock; `nil` if it has no date.
    package func moved(by step: Int64) -> Request? {
        guard let earliest = earliestBegin, earliest < .max else { return nil }
        var request = self
        request.earliestBegin = earliest.addingClamped(step)
        request.chosenStart = chosenStart?.addingClamped(step)
        return request
    }

    /// Whether it has had a run; a retry does not count as the task's one pending request.
    package var isRetry: Bool { counters.runs > 0 }

    /// Creates a pending request from a dead one: its failures and losses count from 0 again, and it may
    /// start at once.
    ///
    /// Its earlier runs are counted as interruptions, which have no limit. The request therefore remains a
    /// retry, also after a restart of the daemon, and does not replace a newer pending request of its task.
    /// The numbers of its attempts continue.
    /// - Parameter now: Unix nanoseconds; a latest begin date before it is removed.
    package func redriven(now: Int64) -> Request {
        var request = self
        request.counters = AttemptCounters(interruptions: max(1, counters.runs))
        request.removeBeginDates()
        if let latest = latestBegin, latest >= now { request.latestBegin = latest }
        return request
    }

    /// Removes the dates and the tolerance, which apply to its first run.
    ///
    /// A request that has begun can no longer miss its latest begin date: it would be lost with its work
    /// half done. And a retry has a delay of its own, which no tolerance prolongs.
    package mutating func removeBeginDates() {
        earliestBegin = nil
        latestBegin = nil
        tolerance = 0
        chosenStart = nil
    }
}

/// The starts that a schedule missed.
package struct MissedStarts: Equatable, Codable, Sendable {
    package var count: Int
    /// The time of the first missed start, Unix nanoseconds.
    package var from: Int64

    package init(count: Int, from: Int64) {
        self.count = count
        self.from = from
    }
}

/// The submitter of a request.
package enum Submitter: Equatable, Codable, Sendable {
    /// A client of the control socket.
    case `operator`
    /// The manifest or the daemon: `submitAtStart`, a schedule, a session's wake, or a notification that must
    /// be delivered.
    case manifest
    /// A handler, during this run.
    case run(RunID)
    /// A plugin, outside of its runs.
    case plugin(String)
    /// The manifest, because this run succeeded and `then` of its task names the request's.
    case predecessor(RunID)

    /// Whether `maxPending` limits the requests of this submitter.
    package var isPlugin: Bool {
        switch self {
        case .run, .plugin: true
        case .operator, .manifest, .predecessor: false
        }
    }

    /// The run in which it was submitted, or whose success it follows.
    package var run: RunID? {
        switch self {
        case .run(let id), .predecessor(let id): id
        case .operator, .manifest, .plugin: nil
        }
    }
}

extension Submitter {
    /// A submitter without its id or name.
    package enum Kind: String, CaseIterable, Sendable {
        case `operator`
        case manifest
        case run
        case plugin
    }

    package var kind: Kind {
        switch self {
        case .operator: .operator
        case .manifest: .manifest
        case .run, .predecessor: .run
        case .plugin: .plugin
        }
    }
}

/// The number of attempts of a request, by the cause of their end.
///
/// Each count has its own limit, because a failing handler, a dying worker and a stopping daemon are
/// different faults.
package struct AttemptCounters: Equatable, Codable, Sendable {
    /// Runs whose handler reported a failure or did not stop in time.
    package var failures: Int
    /// Runs whose worker died; for a run in the daemon's process, also runs that ended because the daemon
    /// died.
    package var losses: Int
    /// Runs that were interrupted by a drain or an unmet requirement, and so not by their own fault.
    package var interruptions: Int
    /// `nil` for none, and in what older versions have written.
    private var lostHosts: Int?

    package init(
        failures: Int = 0,
        losses: Int = 0,
        interruptions: Int = 0,
        takeovers: Int = 0
    ) {
        self.failures = failures
        self.losses = losses
        self.interruptions = interruptions
        self.takeovers = takeovers
    }

    /// Runs that ended because their host in the fleet was lost.
    package var takeovers: Int {
        get { lostHosts ?? 0 }
        set { lostHosts = newValue > 0 ? newValue : nil }
    }

    /// The number of runs so far.
    package var runs: Int { failures + losses + interruptions + takeovers }
}
