// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostStore

/// Learned times at which the results of tasks are used.
extension Host {
    package func uses(task: String?) -> [UseStatus] {
        let now = moment
        let tasks =
            task.map { dispatcher.scheduler.learnsUse($0) ? [$0] : [] }
            ?? dispatcher.scheduler.learners()
        return tasks.map { dispatcher.scheduler.uses(of: $0, now: now) }
    }

    package func use(task: String) async throws(OperatorRefusal) -> UseStatus {
        try checkLearns(task)
        if let change = decide({ scheduler, now, _ in scheduler.used(task, now: now) }) {
            try await store(change, "the use of \(PrintableText.escaped(task)) is taken in")
        }
        return dispatcher.scheduler.uses(of: task, now: moment)
    }

    package func forgetUses(task: String) async throws(OperatorRefusal) -> UseStatus {
        try checkLearns(task)
        if let change = decide({ scheduler, now, _ in scheduler.forgetUses(of: task, now: now) }) {
            try await store(change, "the uses of \(PrintableText.escaped(task)) are forgotten")
        }
        return dispatcher.scheduler.uses(of: task, now: moment)
    }

    /// Records a use of a plugin's results, because a notification of the plugin was answered.
    func noteUse(ofPlugin name: String) {
        let changes = dispatcher.scheduler.learners(ofPlugin: name).compactMap { task in
            decide { scheduler, now, _ in scheduler.used(task, now: now) }
        }
        guard !changes.isEmpty else { return }
        commit(changes)
    }

    private func checkLearns(_ task: String) throws(OperatorRefusal) {
        guard !dispatcher.scheduler.learnsUse(task) else { return }
        try requireTask(task)
        throw OperatorRefusal(
            .notPermitted,
            "`\(PrintableText.escaped(String(task.prefix(200))))` does not learn when it is used",
            fix: "write `\"learnsUse\": true` and a `tolerance` into its task in"
                + " \(configuration.manifestPath)"
        )
    }
}
