// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel
package import BghostNotify

/// One change of the daemon's stored state.
///
/// A transaction is a list of changes that is stored as a whole or not at all. A request is *pending* after
/// `accepted` and *leased* to one run after `runStarted`. After `runEnded` of that run it is pending again,
/// dead, or deleted.
///
/// Indirect, since changes are passed through many functions: a record has a dozen strings, and
/// each direct copy would retain them all.
package indirect enum StoreChange: Sendable {
    /// A request was accepted.
    ///
    /// It replaces an older pending one, if there is one.
    case accepted(Request, replacing: RunID?)
    /// A pending request ended without a run.
    case closed(RunID, RequestEnd)
    /// A pending request was leased to a run, under the record's epoch.
    case runStarted(RunRecord)
    /// A run ended; the record is final.
    ///
    /// It has no effect unless the request is leased to this run under this epoch: so each lease
    /// has at most one accepted completion.
    case runEnded(RunRecord, then: AfterRun)
    /// A dead request becomes pending again, in this form.
    case redriven(Request)
    /// A dead request was deleted.
    case discarded(RunID)
    /// A pending request has a new date.
    case moved(Request)
    /// The new state of an identifier; an empty one is deleted.
    case remembered(TaskMemory)
    /// The new usage of a plugin's budget in one minute; usage older than a day is deleted.
    case runtimeConsumed(RuntimeUse)
    /// The new state of a notification.
    case notification(NotificationChange)
    /// A run has saved a checkpoint for its request.
    ///
    /// It has no effect unless the request is leased to this run under this epoch.
    case checkpointSaved(Checkpoint)
    /// The checkpoint of a request was deleted before its end.
    case checkpointDeleted(RunID)
    /// Whether the operator has disabled a plugin, and why.
    case switched(plugin: String, off: String?)
    /// The pause of a target, or with `nil` its end.
    case paused(PauseTarget, Pause?)
    /// A start did not happen, or happened late; a note for the history.
    case startSkipped(SkippedStart)
    /// A row of the audit; in the transaction of the change that it is about, if that is stored.
    case audited(AuditEntry)
    /// The manifest that the daemon took up, as a text that the next daemon compares with its own.
    case manifest(String)
    /// The new state of an alert, or of what is watched for alerts.
    case alert(AlertChange)
    /// A plugin was quarantined, or with `nil` released from quarantine.
    case quarantined(plugin: String, Quarantine?)
}

extension StoreChange {
    /// The request whose checkpoint the change deletes; `nil` if it deletes none.
    ///
    /// That is a change after which the request has no further attempt, or that deletes the checkpoint
    /// itself.
    package var endsCheckpoint: RunID? {
        switch self {
        case .accepted(_, let replaced): replaced
        case .closed(let id, _), .discarded(let id), .checkpointDeleted(let id): id
        case .runEnded(let record, .consumed): record.request
        default: nil
        }
    }

    /// Whether the change deletes the checkpoint of this request.
    package func endsCheckpoint(of request: RunID) -> Bool { endsCheckpoint == request }
}
