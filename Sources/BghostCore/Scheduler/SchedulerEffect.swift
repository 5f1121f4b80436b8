// SPDX-License-Identifier: Apache-2.0

/// What the scheduler has decided, to be carried out in this order.
///
/// Indirect, since it goes through many hands: a record has a dozen texts, and each copy of one would
/// retain them all.
package indirect enum SchedulerEffect: Sendable {
    /// To be stored as one transaction.
    case commit([StoreChange])
    /// To be stored as one transaction; whoever waits for this run is told once it is.
    case commitEnd([StoreChange], RunRecord)
    /// A run is to begin.
    case begin(RunStart)
    /// A run is to be asked to stop.
    case stop(RunTicket, StopReason, why: String)
    /// A request waits for a plugin that has a problem: it may have been mended by now.
    case inspect(plugin: Int)
    /// A request has ended and gets no run: nobody need wait for it.
    case ended(RunID)
    /// Something that people may want to know.
    case note(SchedulerNote)
}

/// Names a run to the scheduler while it is under way.
///
/// It is used again once the run has ended.
package struct RunTicket: Hashable, Codable, Sendable {
    package let index: Int
}

/// A run that is to begin.
package struct RunStart: Sendable {
    package let ticket: RunTicket
    /// The index of its task in the catalog.
    package let task: Int
    /// The task's parameters with the request's laid over them.
    package let parameters: String
    package let isSimulated: Bool
    package var record: RunRecord
    /// To be stored with the beginning.
    package let changes: [StoreChange]
}

/// How a run ended, as its host saw it.
package struct RunFinish: Codable, Sendable {
    /// Final, but for what the scheduler knows.
    package var record: RunRecord
    package var outcome: Outcome
    /// When its handler wants to be called again, nanoseconds from now.
    package var retryAfter: UInt64?
    /// Whether somebody expired it before its time, which is no fault of its own.
    package var isExpirySimulated: Bool

    package init(
        record: RunRecord,
        outcome: Outcome,
        retryAfter: UInt64? = nil,
        isExpirySimulated: Bool = false
    ) {
        self.record = record
        self.outcome = outcome
        self.retryAfter = retryAfter
        self.isExpirySimulated = isExpirySimulated
    }
}
