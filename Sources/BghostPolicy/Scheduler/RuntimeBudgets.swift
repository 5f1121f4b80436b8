// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// The runtime limits of plugins within 24 hours, and the time that they have used.
struct RuntimeBudgets: Sendable {
    private struct Key: Hashable {
        let plugin: String
        let kind: TaskKind
    }

    private struct Account: Sendable {
        let key: Key
        /// Nanoseconds.
        let limit: Int64
        var ledger = RuntimeLedger()
        /// Until when the budget is used up, Unix nanoseconds; `nil` if it is not.
        var spentUntil: Int64?

        mutating func update() { spentUntil = ledger.freeAt(limit: limit) }
    }

    /// The accounts by quota; a quota without a limit has none.
    private var accounts: [Int: Account] = [:]
    /// The time that was used under limits which the manifest does not have now, in case they come back.
    private var elsewhere: [Key: RuntimeLedger] = [:]
    /// When the first budget that is used up has room again, Unix nanoseconds.
    private(set) var nextEnd: Int64?

    init(_ catalog: TaskCatalog) { adopt(catalog) }

    /// Adopts the limits of a manifest; the time used within the last day is kept, also for a plugin or a
    /// limit that is removed and comes back.
    mutating func adopt(_ catalog: TaskCatalog) {
        for account in accounts.values where account.ledger.used > 0 {
            elsewhere[account.key] = account.ledger
        }
        accounts = [:]
        for (name, index) in catalog.currentPlugins {
            for kind in TaskKind.allCases {
                guard let limit = catalog.plugins[index].runtimePerDay[kind] else { continue }
                let key = Key(plugin: name, kind: kind)
                var account = Account(
                    key: key,
                    limit: Int64(clamping: max(1, limit.clampedNanoseconds)),
                    ledger: elsewhere.removeValue(forKey: key) ?? RuntimeLedger()
                )
                account.update()
                accounts[TaskCatalog.quotaIndex(plugin: index, kind)] = account
            }
        }
        // It is at least a day ago for the others, whatever the time is.
        let ledgers = accounts.values.map(\.ledger) + elsewhere.values
        let newest = ledgers.compactMap(\.newestMinute).max() ?? 0
        elsewhere = elsewhere.filter {
            newest - ($0.value.newestMinute ?? 0) < RuntimeUse.minutesKept
        }
        updateNextEnd()
    }

    /// Until when a quota is used up, Unix nanoseconds; `nil` if it is not.
    func spentUntil(_ quota: Int) -> Int64? {
        accounts.isEmpty ? nil : accounts[quota]?.spentUntil
    }

    /// The used time and the limit of a quota, nanoseconds; `nil` if it has no limit.
    func use(_ quota: Int) -> (used: Int64, limit: Int64)? {
        accounts[quota].map { ($0.ledger.used, $0.limit) }
    }

    /// Adds the duration of an ended run.
    ///
    /// - Parameters:
    ///   - plugin: the name of its plugin.
    ///   - quota: the quota of that plugin now; `nil` if the manifest no longer has it.
    ///   - wasLimited: whether it had a limit when the run began.
    /// - Returns: the usage to store, and whether this run has used up the rest of the budget; `nil` if there
    ///   is no limit, and was none within the last day.
    mutating func add(
        _ duration: Duration,
        of plugin: String,
        _ kind: TaskKind,
        quota: Int?,
        wasLimited: Bool,
        now: Int64
    ) -> (use: RuntimeUse, isSpentNow: Bool)? {
        let time = Int64(clamping: duration.clampedNanoseconds)
        let added: (minute: Int64, nanoseconds: Int64)
        var isSpentNow = false
        if let quota, var account = accounts[quota] {
            let wasSpent = account.spentUntil != nil
            added = account.ledger.add(time, now: now)
            account.update()
            accounts[quota] = account
            updateNextEnd()
            isSpentNow = !wasSpent && account.spentUntil != nil
        } else {
            let key = Key(plugin: plugin, kind: kind)
            guard var ledger = elsewhere[key] ?? (wasLimited ? RuntimeLedger() : nil) else {
                return nil
            }
            added = ledger.add(time, now: now)
            elsewhere[key] = ledger
        }
        let use = RuntimeUse(
            plugin: plugin,
            kind: kind,
            minute: added.minute,
            nanoseconds: added.nanoseconds
        )
        return (use, isSpentNow)
    }

    mutating func restore(_ use: RuntimeUse, now: Int64) {
        let key = Key(plugin: use.plugin, kind: use.kind)
        guard let quota = accounts.first(where: { $0.value.key == key })?.key else {
            var ledger = elsewhere[key] ?? RuntimeLedger()
            ledger.restore(minute: use.minute, nanoseconds: use.nanoseconds, now: now)
            elsewhere[key] = ledger.used > 0 ? ledger : nil
            return
        }
        accounts[quota]?.ledger.restore(
            minute: use.minute,
            nanoseconds: use.nanoseconds,
            now: now
        )
        accounts[quota]?.update()
        updateNextEnd()
    }

    /// Removes usage that is older than a day.
    ///
    /// - Returns: the quotas that have room again.
    mutating func refill(now: Int64) -> [Int] {
        guard let end = nextEnd, end <= now else { return [] }
        return updateAll(now: now) { ledger in ledger.forget(now: now) }
    }

    mutating func clockWasSet(now: Int64) -> [Int] {
        updateAll(now: now) { ledger in ledger.clockWasSet(now: now) }
    }

    private mutating func updateAll(now: Int64, _ change: (inout RuntimeLedger) -> Void) -> [Int] {
        var free: [Int] = []
        for quota in accounts.keys.sorted() {
            let wasSpent = spentUntil(quota) != nil
            if var account = accounts[quota] {
                change(&account.ledger)
                account.update()
                accounts[quota] = account
            }
            if wasSpent, spentUntil(quota) == nil { free.append(quota) }
        }
        for (key, ledger) in elsewhere {
            var ledger = ledger
            change(&ledger)
            elsewhere[key] = ledger.used > 0 ? ledger : nil
        }
        updateNextEnd()
        return free
    }

    private mutating func updateNextEnd() {
        nextEnd = accounts.values.lazy.compactMap(\.spentUntil).min()
    }
}
