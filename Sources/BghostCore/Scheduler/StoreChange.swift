// SPDX-License-Identifier: Apache-2.0

/// One step of the daemon's memory.
///
/// A transaction is a list of these, kept as a whole or not at all. A request is *pending* from
/// `accepted` on, *leased* to one run from `began` on, and after that run's `ended` it is pending
/// again, dead, or gone.
///
/// Indirect, since it goes through many hands: a record has a dozen texts, and each copy of one would
/// retain them all.
package indirect enum StoreChange: Sendable {
    /// A request was accepted. It takes the place of an older pending one, if there is one.
    case accepted(Request, replacing: RunID?)
    /// A pending request came to its end without a run.
    case closed(RunID, RequestEnd)
    /// A pending request became a run: it is leased under the record's epoch.
    case began(RunRecord)
    /// A run ended; the record is final.
    ///
    /// It has no effect unless its request is leased to this run under this epoch: so there is at
    /// most one accepted completion for each lease.
    case ended(RunRecord, then: AfterRun)
    /// A dead request goes back to the pending ones, as this says.
    case redriven(Request)
    /// A dead request is given up.
    case discarded(RunID)
    /// What is remembered of an identifier from now on.
    case remembered(TaskMemory)
    /// What a minute of a plugin's budget holds from now on; what is older than a day is dropped.
    case used(RuntimeUse)
    /// What is kept of a notification from now on.
    case notification(NotificationChange)
    /// Whether a plugin is switched off by its operator, and why.
    case switched(plugin: String, off: String?)
    /// A plugin is not run any more, or, with `nil`, is again.
    case quarantined(plugin: String, Quarantine?)
}
