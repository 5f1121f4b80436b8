// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// A decision of the scheduler.
///
/// The host executes effects in order.
///
/// Indirect, since effects are passed through many functions: a record has a dozen strings, and
/// each direct copy would retain them all.
package indirect enum SchedulerEffect: Sendable {
    /// Store the changes as one transaction.
    case commit([StoreChange])
    /// Store the changes as one transaction, and then notify the callers that wait for this run.
    case commitEnd([StoreChange], RunRecord)
    /// Start a run.
    case startRun(RunStart)
    /// Cancel a run.
    case stop(RunHandle, StopReason, why: String)
    /// A request waits for a plugin with a problem: check whether it is fixed.
    case inspect(plugin: Int)
    /// A request has ended without a run, so callers need not wait for it.
    case requestClosed(RunID)
    /// Ask the fleet for a start of a schedule, and pass its answer to `fleetAnswered`.
    case claimStart(FleetClaim)
    /// End the claim of this host to a start.
    case releaseStart(FleetClaim, FleetRelease)
    /// A note for the log.
    case log(SchedulerNote)
}

/// Identifies a run to the scheduler while it is in progress.
///
/// It is reused after the run has ended.
package struct RunHandle: Hashable, Codable, Sendable {
    package let index: Int
}

/// A run to start.
package struct RunStart: Sendable {
    package let handle: RunHandle
    /// The index of its task in the catalog.
    package let task: Int
    /// The task's parameters, overridden by those of the request.
    package let parameters: String
    package let isManual: Bool
    /// When the request could start, if nothing else blocked it, Unix nanoseconds.
    package let due: Int64
    /// The same for its first attempt, as far as it is known, Unix nanoseconds.
    package let firstDue: Int64
    package var record: RunRecord
    /// Changes to store together with the start.
    package let changes: [StoreChange]
}

/// How a run ended, as the host observed it.
package struct RunFinish: Codable, Sendable {
    /// Final, except for the fields that the scheduler sets.
    package var record: RunRecord
    package var outcome: Outcome
    /// The delay that the handler requests before a retry, nanoseconds.
    var retryAfter: UInt64?
    /// Whether the handler reported a permanent failure.
    var isFinal: Bool
    /// The time from the cancellation to the end, nanoseconds, without time in a debugger; `nil` if
    /// the run was not cancelled.
    package var stoppedAfter: UInt64?
    /// Whether transfers of the run continued without it after the cancellation.
    package var hasDetached: Bool
    /// Whether an operator expired the run early, so that the task must not be throttled for it.
    var isExpirySimulated: Bool

    package init(
        record: RunRecord,
        outcome: Outcome,
        retryAfter: UInt64? = nil,
        isFinal: Bool = false,
        stoppedAfter: UInt64? = nil,
        hasDetached: Bool = false,
        isExpirySimulated: Bool = false
    ) {
        self.record = record
        self.outcome = outcome
        self.retryAfter = retryAfter
        self.isFinal = isFinal
        self.stoppedAfter = stoppedAfter
        self.hasDetached = hasDetached
        self.isExpirySimulated = isExpirySimulated
    }
}
