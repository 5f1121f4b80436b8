// SPDX-License-Identifier: Apache-2.0

package import BghostCore

/// What a store that has been opened still holds from before.
package struct RecoveredState: Sendable {
    /// Grows with every time that the store is opened; the upper half of each epoch given out.
    package var incarnation: UInt32
    /// Requests without a run, the oldest first.
    package var pending: [Request]
    /// Runs that were under way when the daemon ended, with their requests.
    package var interrupted: [(request: Request, run: RunRecord)]
    package var tasks: [TaskMemory]
    /// Plugins that are switched off, and why.
    package var switchedOff: [String: String]
    /// Plugins that are not run any more, by name.
    package var quarantines: [Quarantine]
    /// How long plugins with a budget ran within the last day.
    package var runtime: [RuntimeUse]
    /// Notifications that are to be delivered, or may still be answered.
    package var notifications: [NotificationRow]

    package init(
        incarnation: UInt32,
        pending: [Request] = [],
        interrupted: [(request: Request, run: RunRecord)] = [],
        tasks: [TaskMemory] = [],
        switchedOff: [String: String] = [:],
        quarantines: [Quarantine] = [],
        runtime: [RuntimeUse] = [],
        notifications: [NotificationRow] = []
    ) {
        self.incarnation = incarnation
        self.pending = pending
        self.interrupted = interrupted
        self.tasks = tasks
        self.switchedOff = switchedOff
        self.quarantines = quarantines
        self.runtime = runtime
        self.notifications = notifications
    }
}

/// A transaction that was not kept.
package struct StoreError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What kind of fault it is, as far as it decides what the host does.
    package enum Kind: Equatable, Sendable {
        /// No room: nothing new is accepted until there is; what runs goes on.
        case full
        /// The file or its folder cannot be written.
        case readOnly
        /// The file is damaged; nothing in it may be overwritten.
        case corrupt
        /// Another daemon has it.
        case taken
        case other
    }

    package let kind: Kind
    /// What happened, where, and what to do about it.
    package let message: String

    /// The message may quote a damaged file: what steers a terminal is escaped.
    package init(_ message: String, kind: Kind = .other) {
        self.kind = kind
        self.message = PrintableText.escaped(message)
    }

    package var description: String { message }
}

/// Where requests and runs are kept.
///
/// One host writes. It may begin a transaction before the last one is answered; they take effect in
/// the order of the calls, so an implementation is free to commit several at once.
///
/// The questions are answered from what is committed, and from what `commit` was called with before.
package protocol Store: AnyObject, Sendable {
    /// Keeps a transaction.
    ///
    /// - Parameters:
    ///   - isAwaited: whether somebody waits for the answer. The calling thread may then be made to
    ///     wait for the disk, as long as that is quick and nothing else is on its way there.
    ///   - completion: called exactly once, in the order of the commits, when the transaction is as
    ///     durable as this store makes it, or has failed. It may be called before `commit` returns,
    ///     and on any thread.
    func commit(
        _ changes: [StoreChange],
        isAwaited: Bool,
        completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    )

    /// What the store holds: what a daemon that starts takes over from the one before.
    ///
    /// - Parameters:
    ///   - expect: is told before how many there will be, or a few more.
    ///   - each: is given every request without a run, the oldest first, while the store is read; it
    ///     must not call the store. What it was given counts only if this returns.
    /// - Returns: all else; its `pending` is empty.
    func recover(
        expecting expect: (Int) -> Void,
        _ each: (Request) -> Void
    ) throws(StoreError) -> RecoveredState

    /// The newest ended runs first.
    func runs(task: String?, limit: Int) -> [RunRecord]

    /// Ended runs whose ids begin with these characters, the newest first.
    func runs(idPrefix: String, limit: Int) -> [RunRecord]

    /// The newest ended run of a request.
    func run(ofRequest id: RunID) -> RunRecord?

    /// The newest ended run of a task.
    func lastRun(task: String) -> RunRecord?

    /// Requests that are tried no more, the newest first.
    func deadLetters(task: String?, limit: Int) -> [DeadLetter]

    /// Writes a copy of all that is committed, while the store goes on.
    ///
    /// Blocks until the copy is whole and synced. The file must not exist.
    func backup(to path: String) throws(StoreError)

    /// Waits for all commits, and lets go of the file.
    ///
    /// Commits after this fail.
    func close()
}

extension Store {
    /// Keeps a transaction that somebody waits for.
    package func commit(
        _ changes: [StoreChange],
        completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        commit(changes, isAwaited: true, completion: completion)
    }

    /// What the store holds, with all requests in memory at once: for few of them.
    package func recover() throws(StoreError) -> RecoveredState {
        var pending: [Request] = []
        var state = try recover(expecting: { pending.reserveCapacity($0) }) { pending.append($0) }
        state.pending = pending
        return state
    }
}
