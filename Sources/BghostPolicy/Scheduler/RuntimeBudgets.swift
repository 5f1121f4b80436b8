// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// The runtime limits of plugins within 24 hours, and the time that they have used.
struct RuntimeBudgets: Sendable {
    private struct Account: Sendable {
        let plugin: String
        let kind: TaskKind
        /// Nanoseconds.
        let limit: Int64
        var ledger = RuntimeLedger()
        /// Until when the budget is used up, Unix nanoseconds; `nil` if it is not.
        var spentUntil: Int64?

        mutating func update() { spentUntil = ledger.freeAt(limit: limit) }
    }

    /// The accounts by quota; a quota without a limit has none.
    private var accounts: [Int: Account] = [:]
    /// When the first budget that is used up has room again, Unix nanoseconds.
    private(set) var nextEnd: Int64?

    init(_ catalog: TaskCatalog) { adopt(catalog) }

    /// Adopts the limits of a manifest; the time used within the last day is kept.
    mutating func adopt(_ catalog: TaskCatalog) {
        struct Key: Hashable {
            let plugin: String
            let kind: TaskKind
        }
        var ledgers: [Key: RuntimeLedger] = [:]
        for account in accounts.values {
            ledgers[Key(plugin: account.plugin, kind: account.kind)] = account.ledger
        }
        accounts = [:]
        for (name, index) in catalog.currentPlugins {
            for kind in TaskKind.allCases {
                guard let limit = catalog.plugins[index].runtimePerDay[kind] else { continue }
                var account = Account(
                    plugin: name,
                    kind: kind,
                    limit: Int64(clamping: max(1, limit.clampedNanoseconds))
                )
                if let known = ledgers[Key(plugin: name, kind: kind)] {
                    account.ledger = known
                    account.update()
                }
                accounts[TaskCatalog.quotaIndex(plugin: index, kind)] = account
            }
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
    /// - Returns: the usage to store, and whether this run has used up the rest of the budget; `nil` if the
    ///   quota has no limit.
    mutating func add(
        _ duration: Duration,
        quota: Int,
        now: Int64
    ) -> (use: RuntimeUse, isSpentNow: Bool)? {
        guard var account = accounts[quota] else { return nil }
        let wasSpent = account.spentUntil != nil
        let time = Int64(clamping: duration.clampedNanoseconds)
        let (minute, nanoseconds) = account.ledger.add(time, now: now)
        account.update()
        accounts[quota] = account
        updateNextEnd()
        let use = RuntimeUse(
            plugin: account.plugin,
            kind: account.kind,
            minute: minute,
            nanoseconds: nanoseconds
        )
        return (use, !wasSpent && account.spentUntil != nil)
    }

    mutating func restore(_ use: RuntimeUse, now: Int64) {
        let account = accounts.first { $0.value.plugin == use.plugin && $0.value.kind == use.kind }
        guard let quota = account?.key else { return }
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
        updateNextEnd()
        return free
    }

    private mutating func updateNextEnd() {
        nextEnd = accounts.values.lazy.compactMap(\.spentUntil).min()
    }
}
