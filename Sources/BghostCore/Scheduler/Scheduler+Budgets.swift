// SPDX-License-Identifier: Apache-2.0

/// Runtime budgets: a plugin whose runs took too long within a day begins no further one for now.
///
/// A run under way is not cut: its own limits do that.
extension Scheduler {
    /// Takes over what an earlier scheduler kept.
    package mutating func takeOver(_ use: RuntimeUse, now: Moment) {
        note(.tookOverUse(use), at: now)
        gates.budgets.takeOver(use, now: now.unix)
    }

    /// Adds a run that has ended to the budget of its plugin and kind.
    ///
    /// - Returns: what is to be stored of it, if it has a budget.
    mutating func charge(
        _ run: RunningTable.Running,
        _ duration: Duration?,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> RuntimeUse? {
        guard let plugin = catalog.current(plugin: catalog.pluginOfTask[run.task]) else {
            return nil
        }
        let quota = TaskCatalog.quota(plugin: plugin, catalog.tasks[run.task].kind)
        guard let duration, !run.request.isSimulated,
            let (use, isSpentNow) = gates.budgets.add(duration, quota: quota, now: now.unix)
        else { return nil }
        if isSpentNow, let end = gates.budgets.spentUntil(quota) {
            effects.append(.note(.budgetSpent(task: run.request.task, use, until: end)))
        }
        return use
    }

    /// Brings up again what waits for budgets that have room again.
    mutating func refillBudgets(_ quotas: [Int], now: Moment) {
        guard !quotas.isEmpty else { return }
        retryRequests(now: now) { [catalog] in quotas.contains(catalog.quota(of: $0)) }
    }

    /// Whether background work of a plugin may start, as its handlers are told it.
    package func backgroundRefreshStatus(ofPlugin known: Int) -> RefreshStatus {
        let plugin = catalog.current(plugin: known) ?? known
        var switches = RefreshStatus.Switches()
        switches.isPluginDisabled = gates.plugins[plugin].switchedOff != nil
        switches.isDraining = isDraining
        let quota = TaskCatalog.quota(plugin: plugin, .refresh)
        switches.isBudgetSpent = gates.budgets.spentUntil(quota) != nil
        return RefreshStatus(switches, given: gates.facts ?? FactSheet(probes: []))
    }
}
