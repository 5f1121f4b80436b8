// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import FoundationEssentials

extension URLSession {
    /// The tasks of the session that have not completed; in a background session also those that have,
    /// and were not acknowledged.
    ///
    /// Those of a background session include tasks that other runs have started.
    public var allTasks: [URLSessionTask] {
        get async { await tasksOfHost() }
    }

    /// Calls back with `allTasks` on the delegate queue.
    public func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        let context = context
        delegateQueue.addOperation { [self] in
            TaskContext.$current.withValue(context) { completionHandler(tasksNow) }
        }
    }

    /// Runs off the caller's actor, which would otherwise be blocked until the daemon answers.
    @concurrent
    private func tasksOfHost() async -> [URLSessionTask] { tasksNow }

    private var tasksNow: [URLSessionTask] {
        let records = settings.identifier.flatMap { Transfers(host)?.list($0) } ?? []
        let held = heldByTransfer
        let listed = records.flatMap { record -> [URLSessionTask] in
            guard let tasks = held[record.id] else { return [.of(record, in: self)] }
            for task in tasks { task.note(record) }
            return tasks
        }
        // The host does not know those of a foreground session, and those that were not resumed.
        let own = heldTasks.filter { $0.transfer == nil && $0.state != .completed }
        return listed + own
    }

    /// The tasks that a caller still holds, by the transfer that they have started.
    private var heldByTransfer: [String: [URLSessionTask]] {
        Dictionary(grouping: heldTasks.filter { $0.transfer != nil }) { $0.transfer ?? "" }
    }

    // MARK: Deliveries

    /// Tells the delegate of the ended transfers that a run may take, and that there are no more.
    ///
    /// In the wake of an app delegate, this waits until the app delegate knows of the wake.
    func deliver(in context: TaskContext) {
        guard let identifier = settings.identifier else { return }
        context.sessions.deliver { [self] in deliver(identifier, in: context) }
    }

    private func deliver(_ identifier: String, in context: TaskContext) {
        let sessions = context.sessions
        let ends = sessions.ends(of: identifier)
        ends.askForKept(of: context)
        let records = ends.claimAll()
        // A wake says that there are no more, also to the second session.
        guard !records.isEmpty || context.wake(of: identifier) != nil else { return }
        let held = heldByTransfer
        sessions.enter()
        TaskContext.$current.withValue(context) {
            delegateQueue.addOperation { [self] in
                for record in records {
                    // Invalidated meanwhile, it has nothing to tell: the next session has.
                    guard delegate != nil else {
                        ends.giveBack(record)
                        continue
                    }
                    // A completion handler ends with the run of its task.
                    let known = held[record.id]?.first { !$0.hasCompletion }
                    (known ?? URLSessionTask.of(record, in: self)).tell(record)
                }
                delegate?.urlSessionDidFinishEvents(forBackgroundURLSession: self)
                sessions.leave()
            }
        }
    }
}
