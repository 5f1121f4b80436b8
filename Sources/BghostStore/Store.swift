// SPDX-License-Identifier: Apache-2.0

package import BghostCore

/// One step of the daemon's memory.
///
/// A transaction is a list of these, kept as a whole or not at all.
package enum StoreChange: Sendable {
    /// A request was accepted. It takes the place of an older pending one, if there is one.
    case accepted(Request, replacing: RunID?)
    /// A pending request was withdrawn, or dropped with this reason.
    case withdrawn(RunID, reason: String)
    /// A request became a run: it is no longer pending.
    case began(RunRecord)
    /// The run of this id ended; the record is final.
    case ended(RunRecord)
}

/// A transaction that was not kept.
package struct StoreError: Error, Equatable, Sendable, CustomStringConvertible {
    package let message: String

    package init(_ message: String) {
        self.message = message
    }

    package var description: String { message }
}

/// Where requests and runs are kept.
///
/// One host writes. It may begin a transaction before the last one is answered; they take effect in
/// the order of the calls, so an implementation is free to commit several at once.
package protocol Store: AnyObject, Sendable {
    /// Keeps a transaction.
    ///
    /// - Parameter completion: called exactly once, when the transaction is as durable as this store
    ///   makes it, or has failed. It may be called before `commit` returns, and on any thread.
    func commit(
        _ changes: [StoreChange],
        completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    )

    /// What a store that is being opened still holds from before: the requests that were pending, the
    /// oldest first, and the runs that were under way and are now lost.
    func recover() throws(StoreError) -> (pending: [Request], interrupted: [RunRecord])

    /// The newest ended runs first.
    func runs(task: String?, limit: Int) -> [RunRecord]

    /// Ended runs whose ids begin with these characters, the newest first.
    func runs(idPrefix: String, limit: Int) -> [RunRecord]

    /// The ended run of a request.
    func run(ofRequest id: RunID) -> RunRecord?

    /// The newest ended run of a task.
    func lastRun(task: String) -> RunRecord?
}
