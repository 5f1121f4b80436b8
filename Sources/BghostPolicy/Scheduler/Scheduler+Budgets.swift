// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// Runtime budgets: a plugin whose runs took too long within a day starts no more runs for now.
///
/// Runs in progress are not affected; they have their own limits.
extension Scheduler {
    /// Restores usage that an earlier scheduler has recorded.
    package mutating func restore(_ use: RuntimeUse, now: Moment) {
        recordInput(.restoredRuntimeUse(use), at: now)
        gates.budgets.restore(use, now: now.unix)
    }

    /// Adds the duration of an ended run to the budget of its plugin and kind.
    ///
    /// - Returns: the usage to store, if there is a budget.
    mutating func charge(
        _ run: RunningTable.Running,
        _ duration: Duration?,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> RuntimeUse? {
        let own = catalog.plugin(ofTask: run.task)
        let kind = catalog.tasks[run.task].kind
        let quota = catalog.current(plugin: catalog.pluginOfTask[run.task]).map {
            TaskCatalog.quotaIndex(plugin: $0, kind)
        }
        guard let duration, !run.request.isManual,
            let (use, isSpentNow) = gates.budgets.add(
                duration,
                of: own.name,
                kind,
                quota: quota,
                wasLimited: own.runtimePerDay[kind] != nil,
                now: now.unix
            )
        else { return nil }
        if isSpentNow, let quota, let end = gates.budgets.spentUntil(quota) {
            effects.append(.log(.budgetSpent(task: run.request.task, use, until: end)))
        }
        return use
    }

    /// Checks requests again that wait for budgets which have room again.
    mutating func refillBudgets(_ quotas: [Int], now: Moment) {
        guard !quotas.isEmpty else { return }
        recheckRequests(now: now) { [catalog] in quotas.contains(catalog.quotaIndex(of: $0)) }
    }

    /// Whether background work of a plugin may start, as reported to its handlers.
    package func backgroundRefreshStatus(ofPlugin known: Int) -> RefreshStatus {
        let plugin = catalog.current(plugin: known) ?? known
        return RefreshStatus(
            isDenied: !gates.isEnabled(plugin),
            gates.restrictions(plugin: plugin, .refresh).union(isDraining ? .drain : [])
        )
    }
}
