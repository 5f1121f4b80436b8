// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
internal import BghostPolicy
package import BghostServices

/// Learned times at which the results of tasks are used.
///
/// The host owns it. Use it on the reactor's thread only; it does not block.
package final class UseCommands {
    private let dispatcher: Dispatcher
    private let commits: CommitQueue
    private let clock: DaemonClock
    private let manifestPath: String

    /// - Parameter manifestPath: for messages.
    package init(
        _ dispatcher: Dispatcher,
        _ commits: CommitQueue,
        _ clock: DaemonClock,
        manifestPath: String
    ) {
        self.dispatcher = dispatcher
        self.commits = commits
        self.clock = clock
        self.manifestPath = manifestPath
    }

    /// The uses of one task, or of all tasks that learn them.
    ///
    /// The cost is that of one lookup for one task, and O(identifiers that learn) for all, in parts.
    package nonisolated(nonsending) func uses(task: String?) async -> [UseStatus] {
        let now = clock.moment
        if let task {
            guard dispatcher.scheduler.learnsUse(task) else { return [] }
            return [UseStatus(task: task, dispatcher.scheduler.habit(of: task, now: now))]
        }
        let rows = dispatcher.scheduler.learningRows()
        var uses: [UseStatus] = []
        for start in stride(from: 0, to: rows.count, by: ListOrder.partMax) {
            if start > 0 { await Task.yield() }
            let part = rows[start...].prefix(ListOrder.partMax)
            uses += dispatcher.scheduler.learners(part).map {
                UseStatus(task: $0, dispatcher.scheduler.habit(of: $0, now: now))
            }
        }
        return await ListOrder.sorted(uses, by: { $0.task })
    }

    /// Records a use, and returns when it is stored.
    package nonisolated(nonsending) func use(task: String) async throws(OperatorRefusal)
        -> UseStatus
    {
        try checkLearns(task)
        let change = dispatcher.decide { scheduler, now, _ in scheduler.resultUsed(task, now: now) }
        if let change {
            try await commits.store(
                [change],
                "the use of \(PrintableText.escaped(task)) is taken in"
            )
        }
        return UseStatus(task: task, dispatcher.scheduler.habit(of: task, now: clock.moment))
    }

    /// Forgets the uses of a task, and returns when that is stored.
    package nonisolated(nonsending) func forgetUses(
        task: String
    ) async throws(OperatorRefusal) -> UseStatus {
        try checkLearns(task)
        let change = dispatcher.decide { scheduler, now, _ in
            scheduler.forgetUses(of: task, now: now)
        }
        if let change {
            try await commits.store(
                [change],
                "the uses of \(PrintableText.escaped(task)) are forgotten"
            )
        }
        return UseStatus(task: task, dispatcher.scheduler.habit(of: task, now: clock.moment))
    }

    /// Records a use of a plugin's results, because a notification of the plugin was answered.
    func noteUse(ofPlugin name: String) {
        let changes = dispatcher.scheduler.learners(ofPlugin: name).compactMap { task in
            dispatcher.decide { scheduler, now, _ in scheduler.resultUsed(task, now: now) }
        }
        guard !changes.isEmpty else { return }
        commits.commit(changes)
    }

    private func checkLearns(_ task: String) throws(OperatorRefusal) {
        guard !dispatcher.scheduler.learnsUse(task) else { return }
        try dispatcher.requireTask(task)
        throw OperatorRefusal(
            .notPermitted,
            "`\(PrintableText.escaped(String(task.prefix(200))))` does not learn when it is used",
            fix: "write `\"learnsUse\": true` and a `tolerance` into its task in \(manifestPath)"
        )
    }
}
