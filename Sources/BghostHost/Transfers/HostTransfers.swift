// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostTransfer
internal import Glibc
internal import Synchronization

/// The engine that carries transfers, from the start to the end of the host.
extension Host {
    /// Takes up the transfers that an earlier daemon has left, where there may be any.
    func openTransfers() async throws {
        let manifest = configuration.manifest
        let isLeft = access(state.path + "/transfers.sqlite", F_OK) == 0
        // A daemon without transfers opens no second database.
        guard !manifest.sessions.isEmpty || isLeft else { return }
        let journal = try configuration.openTransfers(state.path)
        let desk = TransferDesk(log: log)
        desk.clockOffset.store(clockOffset, ordering: .relaxed)
        desk.accesses.withLock { $0 = transferAccesses() }
        let engine = TransferEngine(
            journal: journal,
            clock: TransferDeskClock(desk: desk),
            observer: desk,
            requirements: { request in
                !request.isDiscretionary || desk.isGoodMoment.load(ordering: .relaxed)
            },
            access: { plugin in desk.accesses.withLock { $0[plugin] } }
        )
        transferTable = TransferTable(
            engine: engine,
            journal: journal,
            desk: desk,
            sessions: manifest.sessions
        )
        try await engine.recover()
        desk.onEvent { [weak self, reactor] in
            // Awaited by nobody: it only brings the host to look.
            Task(executorPreference: reactor) { await self?.takeTransferEvents() }
        }
    }

    /// What the transfers of each plugin may touch.
    private func transferAccesses() -> [String: TransferAccess] {
        var accesses: [String: TransferAccess] = [:]
        for plugin in manifest.plugins {
            // Where it cannot be made, the plugin has a problem, which is told then.
            guard let data = try? state.dataDirectory(of: plugin.name) else { continue }
            let permissions = plugin.permissions
            accesses[plugin.name] = TransferAccess(
                writable: permissions.write + [data],
                readable: permissions.read + permissions.write + [data]
            ) { host, port in
                permissions.network.contains { $0.allows(host: host, port: port) }
            }
        }
        return accesses
    }

    /// Another manifest may permit less, or more.
    func renewTransferAccesses() {
        guard let desk = transferTable?.desk else { return }
        desk.accesses.withLock { $0 = transferAccesses() }
    }

    /// Ends all attempts; what is under way goes on with the next daemon.
    func endTransfers() async {
        guard let table = transferTable else { return }
        // What has been dealt with must not be told of again by the next daemon.
        while let errand = table.errands.first {
            await errand.value.value
            table.errands[errand.key] = nil
        }
        transferTable = nil
        await table.engine.shutDown()
        let journal = table.journal
        // It waits for the disk.
        await withCheckedContinuation { continuation in
            spawner.perform {
                journal.close()
                continuation.resume()
            }
        }
    }

    // MARK: What transfers wait for

    func transferFactsChanged(_ changed: RequirementSet) {
        guard let table = transferTable else { return }
        let isGood = scheduler.unmet(SessionDefinition.goodMoment).isEmpty
        let wasGood = table.desk.isGoodMoment.exchange(isGood, ordering: .relaxed)
        let isBack = changed.contains(.network) && scheduler.unmet(.network).isEmpty
        guard isGood != wasGood || isBack else { return }
        let engine = table.engine
        // Awaited by nobody: the engine looks at what is so when it comes to it.
        Task {
            if isGood != wasGood { await engine.requirementsChanged() }
            if isBack { await engine.networkReturned() }
        }
    }

    func transferClockWasSet() {
        guard let table = transferTable else { return }
        table.desk.clockOffset.store(clockOffset, ordering: .relaxed)
        let engine = table.engine
        Task { await engine.requirementsChanged() }
    }
}
